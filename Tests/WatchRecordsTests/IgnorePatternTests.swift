// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

import TestTools
import Testing
import WatchRecords

@Suite struct IgnorePatternTests {
  /// Whether the pattern ignores this path below the root /r. A path with a slash at its end is a directory.
  private func ignores(_ pattern: String, _ path: String) throws -> Bool {
    let rules = NameRules(
      extensions: [], ignoredDirectoryNames: [], patterns: [try IgnorePattern(Array(pattern.utf8))])
    var components = path.split(separator: "/").map { Array($0.utf8) }
    let name = components.removeLast()
    return rules.pattern(
      ignoring: name, isDirectory: path.hasSuffix("/"),
      in: NameRules.Folder(root: Array("/r".utf8), components: components.map { $0[...] })) != nil
  }

  @Test(
    arguments: [
      ("*.gif", "a.gif", true), ("*.gif", "x/y/a.gif", true), ("*.gif", "a.GIF", false), ("*.gif", "a.gif.jpg", false),
      ("*.[gG][iI][fF]", "a.GiF", true), ("Exports", "Exports/", true), ("Exports", "a/Exports/", true),
      ("Exports", "Exports2/", false), ("Exports/", "Exports", false), ("Exports/", "a/Exports/", true),
      ("a?c", "abc", true), ("a?c", "ac", false), ("a?c", "a/c", false), ("?", "é", false), ("??", "é", true),
      ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false), ("[^a-c]x", "dx", true), ("[]]x", "]x", true),
      ("[a-]x", "-x", true), ("\\*x", "*x", true), ("\\*x", "ax", false), ("\\!x", "!x", true), ("a\\[b", "a[b", true),
      ("a**b", "a123b", true), ("*", "a/b", nil), ("*/", "a/", true), ("*/", "a", false),
      // These match below the root, from its beginning.
      ("Cache/tmp", "Cache/tmp/", true), ("Cache/tmp", "x/Cache/tmp/", false), ("Cache/*.jpg", "Cache/a.jpg", true),
      ("Cache/*.jpg", "Cache/x/a.jpg", false), ("Cache/**", "Cache/", true), ("Cache/**", "Cache", false),
      ("Cache/**", "x/Cache/", false), ("**/Cache", "Cache/", true), ("**/Cache", "x/y/Cache/", true),
      ("a/**/b", "a/b", true), ("a/**/b", "a/x/y/b", true), ("a/**/b", "a/x/y/c", false), ("a/**/b", "ab", false),
      ("a/**/b/*.jpg", "a/b/x/b/c.jpg", true), ("a/**/b/*.jpg", "a/b/x/c.jpg", false),
      ("**/a/**/a/**/c", "a/x/a/y/c", true), ("**/a/**/a/**/c", "a/x/y/c", false), ("**/**/c", "c", true),
      // These match from the top of the file system.
      ("/r/Cache", "Cache/", true), ("/r/Cache", "x/Cache/", false), ("/r/*/raw/*.tif", "x/raw/a.tif", true),
      ("/q/Cache", "Cache/", false), ("/r", "r/", false), ("/**/raw", "x/raw/", true),
    ] as [(String, String, Bool?)])
  func aPatternIgnoresExactlyTheExpectedPaths(pattern: String, path: String, isIgnored: Bool?) throws {
    guard let isIgnored else {
      #expect(throws: IgnorePatternError.self) { try ignores(pattern, path) }
      return
    }
    #expect(try ignores(pattern, path) == isIgnored)
  }

  @Test(arguments: [
    "", "!a", "a//b", "/", "//", "a/../b", "./a", "..", "[a", "[", "[]", "[!]", "[z-a]", "[[:alpha:]]", "a\\", "[a\\",
    "*", "**", "**/*", "/**", "a\0b", String(repeating: "a", count: 4097),
  ])
  func invalidPatternsAreRefused(text: String) {
    #expect(throws: IgnorePatternError.self) { try IgnorePattern(Array(text.utf8)) }
  }

  @Test func aPatternComparesBytes() throws {
    let rules = NameRules(
      extensions: [], ignoredDirectoryNames: [], patterns: [try IgnorePattern([0xFF, UInt8(ascii: "?")])])
    #expect(rules.pattern(ignoring: [0xFF, 0xFE], isDirectory: false, in: nil) != nil)
    #expect(rules.pattern(ignoring: [0xFE, 0xFF], isDirectory: false, in: nil) == nil)
  }

  @Test func theFolderIsEvaluatedOnlyForPatternsAboutPaths() throws {
    var rules = NameRules(extensions: [], ignoredDirectoryNames: [], patterns: [try IgnorePattern(Array("*.gif".utf8))])
    func folder() -> NameRules.Folder? {
      Issue.record("asked for")
      return nil
    }
    #expect(rules.pattern(ignoring: Array("a.gif".utf8), isDirectory: false, in: folder()) != nil)
    rules = NameRules(extensions: [], ignoredDirectoryNames: [])
    #expect(rules.pattern(ignoring: Array("a.gif".utf8), isDirectory: false, in: folder()) == nil)
  }

  /// Backtracking over every `*` would practically never end.
  @Test func noPatternIsSlow() throws {
    let name = String(repeating: "a", count: 255)
    let path = (0..<2000).map { _ in "a" }.joined(separator: "/")
    let time = try measuringProcessorTime { () throws in
      for _ in 0..<20 {
        #expect(try !ignores(String(repeating: "*a", count: 2000) + "*b", name))
        #expect(try !ignores(String(repeating: "*" + String(repeating: "a", count: 100), count: 2) + "b*", name))
        #expect(try !ignores("**/" + String(repeating: "a/**/", count: 300) + "b/*a", path))
      }
    }.time
    #expect(time < .seconds(10))
  }

  @Test(arguments: 0..<40) func aGlobEqualsAPlainImplementation(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let alphabet = Array("ab*?".utf8)
      let pattern = (0..<Int.random(in: 1...8, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
      guard pattern.contains(where: { $0 != UInt8(ascii: "*") }) else { continue }
      let letters = Array("ab".utf8)
      let name = (0..<Int.random(in: 1...10, using: &random)).map { _ in letters.randomElement(using: &random)! }
      let rules = NameRules(extensions: [], ignoredDirectoryNames: [], patterns: [try IgnorePattern(pattern)])
      let isIgnored = rules.pattern(ignoring: name, isDirectory: false, in: nil) != nil
      #expect(isIgnored == plainlyMatches(pattern[...], name[...]), "\(pattern) \(name)")
    }
  }

  private func plainlyMatches(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
    guard let first = pattern.first else { return name.isEmpty }
    if first == UInt8(ascii: "*") {
      return plainlyMatches(pattern.dropFirst(), name)
        || (!name.isEmpty && plainlyMatches(pattern, name.dropFirst()))
    }
    guard let byte = name.first, first == byte || first == UInt8(ascii: "?") else { return false }
    return plainlyMatches(pattern.dropFirst(), name.dropFirst())
  }

  @Test(
    arguments: [
      ("a.sync-conflict-20240102-030405-ABCDEFG.jpg", false), ("a (conflicted copy 2024-01-02 030405).jpg", false),
      ("x (Anna's conflicted copy 2024-01-02).jpg", false), ("x (host's conflicted copy 2024-01-02 (1)).jpg", false),
      ("Photos Library.photoslibrary", true), ("Catalog Previews.lrdata", true), ("Catalog.lrcat-data", true),
      ("Catalog.lrcat", false), ("Catalog.lrcat.lock", false),
    ])
  func namesOfSyncProgramsAndPhotoApplicationsAreIgnoredWithoutConfiguration(name: String, isDirectory: Bool) {
    let rules = NameRules(extensions: [Array("jpg".utf8)], ignoredDirectoryNames: [])
    #expect(rules.pattern(ignoring: Array(name.utf8), isDirectory: isDirectory, in: nil) != nil)
  }

  @Test(
    arguments: [
      ("conflicted copy.jpg", false), ("a (conflicted).jpg", false), ("sync-conflict-1.jpg", false),
      ("a.photoslibrary.jpg", false), ("photoslibrary", true), ("lrdata", true), ("My lrcat", true),
      // Such a folder may have photos that are nowhere else.
      ("Trip (Anna's conflicted copy 2024-01-02)", true),
      // A file can't hold previews.
      ("a.lrdata", false),
    ])
  func namesThatOnlyResembleBuiltInPatternsAreWanted(name: String, isDirectory: Bool) {
    let rules = NameRules(extensions: [Array("jpg".utf8)], ignoredDirectoryNames: [])
    #expect(rules.pattern(ignoring: Array(name.utf8), isDirectory: isDirectory, in: nil) == nil)
  }

  @Test func namesOfUnfinishedFilesAreIgnored() {
    let rules = NameRules(extensions: [Array("jpg".utf8)], ignoredDirectoryNames: [])
    for name in [
      "a.jpg.part", "a.jpg.crdownload", ".syncthing.a.jpg.tmp", "~syncthing~a.jpg.tmp", ".~a.jpg", "~$a.jpg",
      "a.jpg.tmp", ".a.jpg", "._a.jpg", ".a.jpg.Xy12Za", "a.jpg~", "jpg", ".jpg",
    ] {
      #expect(!rules.wantsFile(Array(name.utf8)), "\(name)")
    }
    #expect(rules.wantsFile(Array("a.JpG".utf8)) && rules.wantsFile(Array("~a.jpg".utf8)))
  }
}
