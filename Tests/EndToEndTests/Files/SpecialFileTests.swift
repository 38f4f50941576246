import Glibc
import PhotoTestSupport
import TestTools
import Testing

/// Files that are no regular files, with the names of photos. Opening one may wait for ever, or act on a device.
@Suite(.timeLimit(.minutes(10))) struct SpecialFileTests {
  @Test func noPipeSocketDeviceOrFolderIsAPhoto() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("first.jpg")
      try makeSpecialFiles(fixture)
      try await fixture.start()
      _ = try await fixture.synchronize()
      #expect(try await fixture.pathsInLibrary() == [fixture.path("first.jpg")])
      // The same as events.
      for name in ["pipe.jpg", "socket.heic", "device.mov", "link.png"] { unlink(fixture.path(name)) }
      rmdir(fixture.path("folder.dng"))
      try makeSpecialFiles(fixture)
      try fixture.write("last.jpg")
      _ = try await fixture.synchronize()
      #expect(
        try await fixture.pathsInLibrary().sorted() == [fixture.path("first.jpg"), fixture.path("last.jpg")])
      let status = try await fixture.status()
      #expect(status.failedCount == 0 && status.readers?.restarts == 0)
    }
  }

  private func makeSpecialFiles(_ fixture: DaemonFixture) throws {
    try #require(mkfifo(fixture.path("pipe.jpg"), 0o644) == 0)
    try #require(mkdir(fixture.path("folder.dng"), 0o755) == 0)
    try #require(symlink("/dev/zero", fixture.path("link.png")) == 0)
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array(fixture.path("socket.heic").utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0, "bind: \(errno)")
    // The null device. Only root may make it.
    if geteuid() == 0 { try #require(mknod(fixture.path("device.mov"), S_IFCHR | 0o666, 0x103) == 0) }
  }
}
