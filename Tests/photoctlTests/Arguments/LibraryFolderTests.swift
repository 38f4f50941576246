import PhotoModel
import TestTools
import Testing

import func Glibc.mkdir
import func Glibc.symlink

@testable import photoctl

struct LibraryFolderTests {
  private func bytes(_ path: String) -> [UInt8] { Array(path.utf8) }

  private func folders(_ roots: String...) -> LibraryFolders {
    var status = LibraryStatus(state: .live, library: "l", token: "l.1.2", version: "0.1.0")
    status.roots = roots.map { .init(path: $0, state: .online) }
    return LibraryFolders(status)
  }

  @Test func linksThatLeadToARootAreReplaced() throws {
    let folder = try TemporaryFolder("folders")
    let path = folder.path
    for name in ["/disk", "/disk/pics", "/disk/pics/a"] { try #require(mkdir(path + name, 0o755) == 0) }
    for (name, target) in [
      ("/disk/pics/inner", path + "/disk/pics/a"), ("/link", path + "/disk/pics"), ("/up", path + "/disk"),
      ("/twice", path + "/link/a"), ("/away", "/usr"), ("/dangling", path + "/nowhere"), ("/loop", path + "/loop"),
    ] {
      try #require(symlink(target, path + name) == 0)
    }
    let library = folders(path + "/disk/pics")
    for (given, expected) in [
      ("/link", "/disk/pics"), ("/link/a/b.jpg", "/disk/pics/a/b.jpg"), ("/up/pics/c.jpg", "/disk/pics/c.jpg"),
      ("/twice/d.jpg", "/disk/pics/a/d.jpg"), ("/disk/pics/inner/e.jpg", "/disk/pics/inner/e.jpg"),
      ("/link/inner/e.jpg", "/disk/pics/inner/e.jpg"), ("/away/f.jpg", "/away/f.jpg"),
      ("/dangling/g.jpg", "/dangling/g.jpg"), ("/loop/h.jpg", "/loop/h.jpg"), ("/nothing/i.jpg", "/nothing/i.jpg"),
    ] {
      #expect(library.resolved(bytes(path + given)) == bytes(path + expected), "\(given)")
    }
  }

  @Test func foldersAboveAndBelowARootMayHavePhotos() {
    let library = folders("/p/pics", "/card")
    for path in ["/", "/p", "/p/pics", "/p/pics/a", "/card"] { #expect(library.mayContain(bytes(path)), "\(path)") }
    for path in ["/p/pics2", "/c", "/usr"] { #expect(!library.mayContain(bytes(path)), "\(path)") }
    #expect(folders("/").mayContain(bytes("/usr")))
    #expect(folders().mayContain(bytes("/usr")), "the roots are not known yet")
  }
}
