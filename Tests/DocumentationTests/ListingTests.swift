import Foundation
import TestTools
import Testing

/// The files that the articles show whole.
struct ListingTests {
  @Test(.enabled(if: ProgramRun.find("swift") != nil, "swift is not installed"))
  func packageOfTheSwiftGuideIsValid() throws { try expectValidPackage("slideshow", in: "GettingStarted") }

  @Test(.enabled(if: ProgramRun.find("swift") != nil, "swift is not installed"))
  func packageOfTheAppInTenMinutesIsValid() throws { try expectValidPackage("gallery", in: "AppInTenMinutes") }

  private func expectValidPackage(_ name: String, in article: String) throws {
    struct Package: Decodable {
      struct Target: Decodable { let name: String, type: String }
      let name: String
      let targets: [Target]
    }
    let article = try Articles.text(article)
    let manifest = try #require(article.firstMatch(of: /```\n(\/\/ swift-tools-version[^`]*)```/)).1
    let folder = try TemporaryFolder("package")
    try String(manifest).write(toFile: folder.path + "/Package.swift", atomically: true, encoding: .utf8)
    let dump = try ProgramRun(
      try #require(ProgramRun.find("swift")), ["package", "--package-path", folder.path, "dump-package"])
    #expect(dump.status == 0, "\(dump.output)")
    let json = try #require(dump.output.firstIndex(of: "{"), "\(dump.output)")
    let package = try JSONDecoder().decode(Package.self, from: Data(dump.output[json...].utf8))
    #expect(package.name == name && package.targets.map(\.type) == ["executable"])
    // The names by which it depends on this package.
    let own = try String(contentsOf: Articles.package.appending(path: "Package.swift"), encoding: .utf8)
    #expect(own.contains(".library(name: \"PhotoClient\"") && own.contains("name: \"photod\","))
    let needed = try #require(own.prefixMatch(of: /\/\/ swift-tools-version: ([0-9.]+)\n/)).1
    #expect(manifest.hasPrefix("// swift-tools-version: \(needed)\n"))
  }

  @Test func unitOfThePythonGuideIsValid() throws {
    let article = try Articles.text("GettingStartedInOtherLanguages")
    let unit = try #require(article.firstMatch(of: /```[a-z]*\n(\[Unit\][^`]*)```/)).1
    var sections: [String: [String: String]] = [:]
    var section = ""
    for line in unit.split(separator: "\n") {
      if let name = line.wholeMatch(of: /\[([A-Z][a-z]+)\]/)?.1 {
        section = String(name)
      } else {
        let entry = try #require(line.wholeMatch(of: /([A-Za-z]+)=(.+)/), "'\(line)' is no line of a unit")
        #expect(sections[section, default: [:]].updateValue(String(entry.2), forKey: String(entry.1)) == nil)
      }
    }
    #expect(Set(sections.keys) == ["Unit", "Service", "Install"])
    #expect(Set(sections["Unit", default: [:]].keys) == ["Wants", "After"])
    #expect(Set(sections["Service", default: [:]].keys) == ["ExecStart", "Restart", "RestartSec"])
    #expect(sections["Install"] == ["WantedBy": "default.target"])
    // The package is installed only for the Python into which the article installs it.
    #expect(article.contains("\n$ ~/photod-python/bin/pip install Sources/python\n"))
    #expect(sections["Service"]?["ExecStart"]?.hasPrefix("%h/photod-python/bin/python ") == true)
    #expect(["always", "on-failure"].contains(sections["Service"]?["Restart"]))
    for key in ["Wants", "After"] {
      let socket = try #require(sections["Unit"]?[key])
      #expect(FileManager.default.fileExists(atPath: Articles.package.appending(path: "systemd/\(socket)").path))
    }
  }
}
