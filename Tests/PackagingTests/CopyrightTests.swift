import Foundation
import TestTools
import Testing

/// Checks debian/copyright, which has the format of https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/.
@Suite struct CopyrightTests {
  /// A paragraph for files.
  struct Files {
    var patterns: [String]
    var holders: String
    var licences: [String]

    /// Here, `*` matches any characters, including slashes.
    func match(_ path: String) -> Bool {
      patterns.contains { fnmatch($0, path, 0) == 0 }
    }
  }

  let files: [Files]
  let texts: [String]

  init() throws {
    let paragraphs = try ControlParagraph.all(in: Project.text("debian/copyright"))
    try #require(
      paragraphs.first?["Format"] == "https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/")
    files = try paragraphs.filter { $0["Files"] != nil }.map { paragraph in
      Files(
        patterns: paragraph.list("Files", separatedBy: " "), holders: try #require(paragraph["Copyright"]),
        licences: try #require(paragraph["License"]).components(separatedBy: " or "))
    }
    texts = paragraphs.filter { $0["Files"] == nil }.compactMap { paragraph in
      paragraph["License"].flatMap { $0.split(separator: "\n").first }.map(String.init)
    }
  }

  /// The paragraph for a file. If several match, the last one counts.
  private func paragraph(of path: String) throws -> Files {
    try #require(files.last { $0.match(path) }, "nothing is said of \(path)")
  }

  @Test func everyLicenceHasItsTextOnce() {
    #expect(Set(files.flatMap(\.licences)) == Set(texts))
    #expect(Set(texts).count == texts.count)
  }

  @Test func everySourceHasTheLicenceItNames() throws {
    let sources = try #require(FileManager.default.enumerator(atPath: Project.directory + "/Sources"))
    var named = 0
    for case let path as String in sources
    where ["swift", "c", "h"].contains(URL(fileURLWithPath: path).pathExtension) {
      let text = try Project.text("Sources/" + path)
      let mark = "SPDX-License-Identifier: "
      let licence = text.range(of: mark).map { text[$0.upperBound...].prefix { $0 != "\n" } } ?? "Apache-2.0"
      let expected = try paragraph(of: "Sources/" + path).licences
      #expect(licence.components(separatedBy: " OR ") == expected, "\(path)")
      if expected != ["Apache-2.0"] { named += 1 }
    }
    #expect(named > 20)
  }

  /// The names of the checkouts that this build uses.
  private func checkouts() throws -> Set<String> {
    struct Resolved: Decodable {
      struct Pin: Decodable { var location: String }
      var pins: [Pin]
    }
    let resolved = try JSONDecoder().decode(Resolved.self, from: Data(Project.text("Package.resolved").utf8))
    return Set(resolved.pins.map { URL(fileURLWithPath: $0.location).deletingPathExtension(".git") })
  }

  @Test func everyPackageThatIsLinkedIsNamedAndNoOther() throws {
    let prefix = ".build/checkouts/"
    let named = files.flatMap(\.patterns).filter { $0.hasPrefix(prefix) && $0.hasSuffix("/*") }
    #expect(Set(named.map { String($0.dropFirst(prefix.count).dropLast(2)) }) == (try checkouts()))
  }

  @Test func everyPackagesLicenceIsThatOfItsFiles() throws {
    let checkoutsDirectory = BuiltPrograms.folder + "/../../checkouts"
    for name in try checkouts() {
      let directory = "\(checkoutsDirectory)/\(name)"
      let file = try #require(
        FileManager.default.contentsOfDirectory(atPath: directory).first { $0.hasPrefix("LICENSE") })
      let text = try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8)
      let licence =
        text.contains("Runtime Library Exception to the Apache 2.0 License")
        ? "Apache-2.0 with Swift exception" : text.contains("Apache License") ? "Apache-2.0" : "Expat"
      let paragraph = try paragraph(of: ".build/checkouts/\(name)/Package.swift")
      #expect(paragraph.licences == [licence], "\(name)")
      // Licences like MIT's begin with the copyright holder, and require that this line is kept.
      if licence == "Expat" {
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Copyright") })
        let holder = line.dropFirst("Copyright (c) ".count)
        #expect(paragraph.holders.contains(holder), "\(name)")
      }
    }
  }
}

extension URL {
  fileprivate func deletingPathExtension(_ suffix: String) -> String {
    lastPathComponent.hasSuffix(suffix) ? String(lastPathComponent.dropLast(suffix.count)) : lastPathComponent
  }
}
