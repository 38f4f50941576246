import Foundation
import TestTools
import Testing

@Suite struct PackageTests {
  /// The upstream part of a Debian version.
  private func upstream(_ version: Substring) -> Substring {
    version.lastIndex(of: "-").map { version[..<$0] } ?? version
  }

  @Test func allPlacesNameTheSameVersion() throws {
    let changelog = try Project.text("debian/changelog")
    let packaged = upstream(try #require(changelog.firstMatch(of: /^photod \(([^)]+)\)/)).1)
    for program in ["photod", "photoctl"] {
      #expect(try Project.run("\(BuiltPrograms.folder)/\(program)", "--version") == "\(program) \(packaged)\n")
    }
    // Before the first release, the changelog has only a section of unreleased changes.
    let released = try Project.text("CHANGELOG.md").firstMatch(of: /(?m)^## \[(\d[^\]]*)\]/)
    #expect((released?.1 ?? packaged) == packaged)
  }

  @Test func theBuildDependsOnWhatItInstalls() throws {
    let source = try #require(try ControlParagraph.all(in: Project.text("debian/control")).first)
    let named = Set(source.list("Build-Depends", separatedBy: ","))
    let script = try Project.text("Scripts/deps")
    let installed = try #require(script.firstMatch(of: /(?m)^ *packages="([^"$]*)\$\*"/)).1.split(separator: " ")
    #expect(named == Set(installed.map(String.init)).union(["chrpath", "debhelper-compat (= 13)"]))
  }

  @Test func thePackageIsForTheArchitectureItWasBuiltOn() throws {
    let paragraphs = try ControlParagraph.all(in: Project.text("debian/control"))
    #expect(paragraphs.map { $0["Source"] ?? $0["Package"] } == ["photod", "photod", "photod-images", "photod-videos"])
    for package in paragraphs.dropFirst() {
      #expect(package["Architecture"] == "any")
      #expect(package.list("Depends", separatedBy: ",").contains("${shlibs:Depends}"))
    }
  }

  @Test func installPutsEverythingUnderItsPrefixAndUninstallTakesItAway() throws {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("photod install-\(UUID().uuidString)").path
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: root) } }
    let variables = ["DESTDIR=\(root)", "PREFIX=/usr", "RELEASE=\(BuiltPrograms.folder)", "STRIP="]
    func make(_ goal: String) throws {
      _ = try Project.run("make", goal, variables[0], variables[1], variables[2], variables[3])
    }
    func files() throws -> Set<String> {
      let all = try #require(FileManager.default.enumerator(atPath: root))
      return Set(
        all.compactMap { $0 as? String }.filter { path in
          var isDirectory: ObjCBool = false
          return FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isDirectory)
            && !isDirectory.boolValue
        })
    }

    try make("install")
    let installed = try files()
    #expect(
      installed.isSuperset(of: [
        "usr/bin/photod", "usr/bin/photoctl", "usr/libexec/photod/photod-watch", "usr/libexec/photod/photod-extract",
        "usr/libexec/photod/photod-image", "usr/libexec/photod/photod-preview", "usr/libexec/photod/photod-video",
        "usr/lib/systemd/user/photod.service", "usr/lib/systemd/user/photod.socket",
        "usr/share/bash-completion/completions/photoctl", "usr/share/zsh/site-functions/_photoctl",
        "usr/share/fish/vendor_completions.d/photoctl.fish",
        "usr/share/man/man1/photod.1", "usr/share/man/man1/photoctl.1", "usr/share/man/man1/photoctl-query.1",
        "usr/share/doc/photod/LICENSE", "usr/share/doc/photod/COPYING.photod-watch",
        "usr/share/doc/photod/COPYING.photod-image", "usr/share/doc/photod/COPYING.photod-video",
        "usr/share/doc/photod/examples/hardening.conf",
      ]))
    #expect(installed.allSatisfy { $0.hasPrefix("usr/") })
    // The articles and contracts that README.md names are beside it.
    let links = try Project.text("README.md").matches(
      of: /\]\(((?:Documentation|Sources)\/[^)]*\.(?:md|varlink|svg))\)/
    ).map { "usr/share/doc/photod/\($0.1)" }
    #expect(links.count > 20)
    for link in links { #expect(installed.contains(link), "\(link)") }
    // README.md names the other paths as those of the source. The licences have other names in a package.
    let readme = try Project.text("README.md")
    let sentence = try #require(readme.firstMatch(of: /Only the source has ([^\n]*)/)).1
    let paths = readme.matches(
      of: /(?:\]\(|`|from |install )((?:Sources|Examples|Documentation|[A-Z]+\.md)[A-Za-z0-9\/+._-]*)/
    )
    .map { String($0.1) }
    #expect(paths.contains("Sources/python") && paths.contains("Examples") && paths.contains("CONTRIBUTING.md"))
    for path in paths where !path.hasSuffix("COPYING") {
      #expect(installed.contains("usr/share/doc/photod/\(path)") || sentence.contains(path), "\(path)")
    }
    let service = try String(contentsOfFile: "\(root)/usr/lib/systemd/user/photod.service", encoding: .utf8)
    #expect(service.contains("\nExecStart=/usr/bin/photod\n"))

    try make("uninstall")
    #expect(try files().isEmpty)
  }

  /// By systemd's default, a decoder that the kernel kills would end the unit.
  @Test func aDecoderThatTheKernelKillsEndsNoUnit() throws {
    let service = try Project.text("systemd/photod.service")
    #expect(service.contains("\nMemoryMax=") && service.contains("\nOOMPolicy=continue\n"))
    #expect(service.contains("\nRestart=on-failure\n"), "photod itself is started again")
  }

  /// Not every shell expands the `~` in `PREFIX=~/.local`.
  @Test func aPrefixInTheHomeIsAPathInTheUnit() throws {
    let home = FileManager.default.temporaryDirectory.appendingPathComponent("photod-home-\(UUID().uuidString)").path
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: home) } }
    let advice = try Project.run(
      "make", "install", "HOME=\(home)", "PREFIX=~/.local", "UNITDIR=~/units", "RELEASE=\(BuiltPrograms.folder)",
      "STRIP=")
    // systemd does not look into this folder, but links units by their paths.
    let units = "'\(home)/units/photod.socket' '\(home)/units/photod.service'"
    #expect(advice.contains("\n  systemctl --user enable --now \(units)\n"), "\(advice)")
    #expect(advice.contains("\n  export PATH='\(home)/.local/bin':$PATH\n"), "\(advice)")
    let run = try Project.run("make", "--dry-run", "run", "HOME=\(home)", "ROOT=~/Pictures")
    #expect(run.contains("'\(home)/Pictures'"))
    let service = try String(contentsOfFile: "\(home)/units/photod.service", encoding: .utf8)
    #expect(service.contains("\nExecStart=\(home)/.local/bin/photod\n"))
    #expect(FileManager.default.isExecutableFile(atPath: "\(home)/.local/bin/photod"))
  }

  @Test func uninstallRemovesTheFoldersThatInstallMade() throws {
    let home = FileManager.default.temporaryDirectory.appendingPathComponent("photod-home-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: "\(home)/opt/bin", withIntermediateDirectories: true)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: home) } }
    func make(_ target: String) throws {
      _ = try Project.run("make", target, "PREFIX=\(home)/opt", "RELEASE=\(BuiltPrograms.folder)", "STRIP=")
    }
    // Folders that a repeated installation finds are still those that the first one made.
    for _ in 0..<2 { try make("install") }
    let other = "\(home)/opt/share/man/man1/other.1"
    try Data().write(to: URL(fileURLWithPath: other))
    try make("uninstall")
    let left = try #require(FileManager.default.enumerator(atPath: home)).compactMap { $0 as? String }
    let expected: Set = ["opt", "opt/bin", "opt/share", "opt/share/man", "opt/share/man/man1"]
    #expect(Set(left) == expected.union(["opt/share/man/man1/other.1"]))
  }

  @Test func aRelativePrefixIsRefused() throws {
    for variable in ["PREFIX=opt", "UNITDIR=units"] {
      let output = try Project.run(
        "bash", "-c", "make install \(variable) DESTDIR=/nonexistent RELEASE=\(BuiltPrograms.folder) 2>&1 || true")
      #expect(output.contains("is no absolute path. Begin PREFIX and UNITDIR with /"), "\(output)")
    }
  }

  /// The licence of photod-watch is not compatible with Apache-2.0. Only Swift's own libraries have an exception.
  @Test func photodWatchLinksOnlyItselfItsRecordsAndSwift() throws {
    let program = BuiltPrograms.folder + "/photod-watch"
    let allowed: Set = [
      "libinotifytools", "libc", "libm", "libgcc_s", "libstdc++", "ld-linux-x86-64", "ld-linux-aarch64",
      "libswiftCore", "libswiftGlibc", "libswiftSwiftOnoneSupport", "libswift_Builtin_float", "libswift_Concurrency",
      "libswift_StringProcessing", "libswift_RegexParser",
    ]
    let libraries = try Project.run("readelf", "--dynamic", "--wide", program)
      .matches(of: /\(NEEDED\)\s+Shared library: \[(.+?)\.so/).map { String($0.1) }
    #expect(libraries.contains("libinotifytools"))
    #expect(Set(libraries).subtracting(allowed).isEmpty)

    // A mangled name begins with the length and the name of its module.
    let modules = try Project.run("nm", "--defined-only", program).matches(of: /(?m) \$s(\d+)([A-Za-z_]\w*)$/)
      .compactMap { match in Int(match.1).map { String(match.2.prefix($0)) } }
    #expect(modules.contains("WatchRecords"))
    let foreign = ["PhotoModel", "PhotoWatch", "Varlink", "Foundation", "FoundationEssentials", "Dispatch", "Logging"]
    #expect(Set(modules).isDisjoint(with: foreign))
  }

  /// The libraries that libvips and libheif load are GPL in part, and so are those of FFmpeg.
  @Test(arguments: ["photod-image", "photod-preview", "photod-video"])
  func decoderHasOnlyItselfItsRecordsAndSwift(_ name: String) throws {
    let program = BuiltPrograms.folder + "/" + name
    let modules = try Project.run("nm", "--defined-only", program).matches(of: /(?m) \$s(\d+)([A-Za-z_]\w*)$/)
      .compactMap { match in Int(match.1).map { String(match.2.prefix($0)) } }
    #expect(modules.contains("ImageRecords") && modules.contains("WatchRecords"))
    let foreign = [
      "PhotoModel", "PhotoImages", "WorkerProcess", "Varlink", "Foundation", "FoundationEssentials", "Dispatch",
      "Logging",
    ]
    #expect(Set(modules).isDisjoint(with: foreign))
  }

  /// The first picture of a session waits for the start of this program. With the libraries of photod-image, it would take
  /// ten times as long.
  @Test func photodPreviewLinksNoDecoderButLibjpeg() throws {
    let libraries = try Project.run("readelf", "--dynamic", "--wide", BuiltPrograms.folder + "/photod-preview")
    #expect(libraries.contains("libjpeg.so"))
    for library in ["libvips", "libheif", "libraw", "libjxl", "libglib", "libgobject", "libavcodec"] {
      #expect(!libraries.contains(library), "\(library)")
    }
  }

  @Test func photodAndPhotoctlLinkNothingOfTheGPL() throws {
    for program in ["photod", "photoctl"] {
      let libraries = try Project.run("readelf", "--dynamic", "--wide", "\(BuiltPrograms.folder)/\(program)")
      #expect(libraries.contains("libc.so"))
      for library in ["libinotifytools", "libvips", "libheif", "libraw", "libavcodec", "libavformat", "libswscale"] {
        #expect(!libraries.contains(library))
      }
    }
  }

  /// With all of Foundation, each start would take longer, and the program would be larger. One import of it in
  /// photoctl or in a target that it depends on is enough for that. FoundationEssentials has what photoctl needs.
  @Test func photoctlLinksNoFoundationBesideItsEssentials() throws {
    let libraries = try Project.run("readelf", "--dynamic", "--wide", "\(BuiltPrograms.folder)/photoctl")
    #expect(!libraries.contains("libFoundation.") && !libraries.contains("libFoundationInternationalization."))
    // The names are right: photod does link them.
    let others = try Project.run("readelf", "--dynamic", "--wide", "\(BuiltPrograms.folder)/photod")
    #expect(others.contains("libFoundation.so"))
  }
}
