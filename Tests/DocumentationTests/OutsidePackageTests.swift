import Foundation
import TestTools
import Testing

/// The packages that the articles tell a reader to make beside the folder of photod.
@Suite(.enabled(if: ProgramRun.find("swift") != nil, "swift is missing"), .timeLimit(.minutes(20)))
struct OutsidePackageTests {
  /// A program of an article.
  struct Program: CustomTestStringConvertible {
    let article: String
    let name: String
    /// The name of its file.
    let file: String
    /// The line that the article leaves out because it is the same in all its listings.
    let prologue: String
    var testDescription: String { name }

    /// The manifest, whole as a reader copies it.
    func manifest() throws -> String {
      let text = try Articles.text(article)
      let start = try #require(text.firstRange(of: "```\n// swift-tools-version")).lowerBound
      let listing = text[start...].dropFirst(4)
      return String(listing[..<(try #require(listing.firstRange(of: "```")).lowerBound)])
    }

    func source() throws -> String {
      try prologue + #require(try Articles.listings("swift", in: article).first)
    }

    /// Writes the package into a folder, beside a link to photod.
    func write(in folder: String) throws -> String {
      let package = folder + "/" + name
      let sources = package + "/Sources/" + name
      try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: true)
      try manifest().write(toFile: package + "/Package.swift", atomically: true, encoding: .utf8)
      try source().write(toFile: sources + "/" + file, atomically: true, encoding: .utf8)
      return package
    }
  }

  static let programs = [
    Program(article: "AppInTenMinutes", name: "gallery", file: "Gallery.swift", prologue: ""),
    Program(
      article: "GettingStarted", name: "slideshow", file: "main.swift", prologue: "import PhotoClient\n\n"),
  ]

  /// The parts of `swift package dump-package` that the test reads.
  private struct Description: Decodable {
    struct Dependency: Decodable {
      struct Folder: Decodable {
        let identity: String
        let path: String
      }
      let fileSystem: [Folder]
    }
    struct Target: Decodable {
      struct Dependency: Decodable {
        /// The product and its package. Elements that these packages do not use are nil.
        let product: [String?]
      }
      let name: String
      let dependencies: [Dependency]
    }
    let dependencies: [Dependency]
    let targets: [Target]
  }

  /// The build of a whole package takes a minute or two: see ``eachPackageIsBuilt()``.
  @Test(arguments: programs) func thePackageNamesPhotodAndItsSourceHasTheRightTypes(_ program: Program) throws {
    try Self.withFolder { folder in
      let package = try program.write(in: folder)
      let run = try Self.swift("package", "--package-path", package, "dump-package")
      #expect(run.status == 0, "\(run.output)")
      let description = try JSONDecoder().decode(Description.self, from: Data(run.output.utf8))
      let photod = description.dependencies.flatMap(\.fileSystem)
      #expect(photod.map(\.identity) == ["photod"] && photod.map(\.path) == [folder + "/photod"])
      let target = try #require(description.targets.first)
      let product = try #require(target.dependencies.first?.product)
      #expect(description.targets.count == 1 && target.name == program.name && product[1] == "photod")
      let manifest = try String(contentsOf: Articles.package.appending(path: "Package.swift"), encoding: .utf8)
      #expect(manifest.contains(".library(name: \"\(try #require(product[0]))\""))

      let source = package + "/Sources/\(program.name)/" + program.file
      // A file with another name than main.swift has no code outside of its declarations.
      let options = program.file == "main.swift" ? [] : ["-parse-as-library"]
      let check = try ProgramRun(
        try #require(ProgramRun.find("swiftc")),
        ["-typecheck", "-swift-version", "6"] + options + (try Self.searchPaths).flatMap { ["-I", $0] } + [source])
      #expect(check.status == 0, "\(check.output)")
    }
  }

  /// Both packages share a build folder, as photod and its dependencies are the same. On two cores it takes two minutes.
  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["PHOTOD_OUTSIDE_BUILD"] != nil, "it takes PHOTOD_OUTSIDE_BUILD=1"))
  func eachPackageIsBuilt() throws {
    try Self.withFolder { folder in
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/photod", withDestinationPath: Articles.package.path)
      for program in Self.programs {
        let package = try program.write(in: folder)
        // The versions of photod's dependencies that are here. Without the file, SwiftPM looks for newer ones.
        let versions = Articles.package.appending(path: "Package.resolved").path
        if FileManager.default.fileExists(atPath: versions) {
          try FileManager.default.copyItem(atPath: versions, toPath: package + "/Package.resolved")
        }
        let run = try Self.swift(
          "build", "--package-path", package, "--scratch-path", folder + "/build", "-j", "2")
        #expect(run.status == 0, "\(run.output)")
        #expect(FileManager.default.isExecutableFile(atPath: folder + "/build/debug/" + program.name))
      }
    }
  }

  private static func withFolder(_ body: (String) throws -> Void) throws {
    let folder = try TemporaryFolder("outside")
    try withExtendedLifetime(folder) { try body(folder.path) }
  }

  /// Runs swift as in a reader's terminal, without the variables that add targets to the package of photod.
  private static func swift(_ arguments: String...) throws -> ProgramRun {
    try ProgramRun(
      URL(filePath: "/usr/bin/env"), ["-u", "PHOTOD_BENCHMARKS", "-u", "PHOTOD_EXAMPLES", "swift"] + arguments)
  }

  /// The folders of the modules that are built, and of the C modules that they import.
  private static var searchPaths: [String] {
    get throws {
      let build = Articles.package.appending(path: ".build")
      func folders(in path: String) throws -> [String] {
        let folder = build.appending(path: path).path
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { folder + "/" + $0 }
      }
      let checkouts = try FileManager.default.contentsOfDirectory(atPath: build.appending(path: "checkouts").path)
      let candidates =
        try folders(in: "debug").filter { $0.hasSuffix(".build") }
        + checkouts.flatMap { try folders(in: "checkouts/\($0)/Sources").map { $0 + "/include" } }
      return [build.appending(path: "debug/Modules").path]
        + candidates.filter { FileManager.default.fileExists(atPath: $0 + "/module.modulemap") }
    }
  }
}
