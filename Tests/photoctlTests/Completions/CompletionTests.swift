import Foundation
import PhotoContract
import PhotoModel
import TestTools
import Testing

@testable import photoctl

struct CompletionTests {
  private static func album(
    _ id: CollectionID, _ kind: AssetCollection.Kind, _ title: String, path: String? = nil, subtype: String? = nil
  ) -> AssetCollection {
    AssetCollection(id: id, kind: kind, subtype: subtype, title: title, path: path, count: 2)
  }

  private static let albums = [
    album(1, .smartAlbum, "Favorites", subtype: "favorites"), album(5, .album, "It's \"fun\""),
    album(6, .folderAlbum, "2024", path: "/a/2024"), album(7, .folderAlbum, "2024", path: "/b/2024"),
    album(8, .folderAlbum, "favorites", path: "/favorites"), album(9, .folderAlbum, "$(x) `y` a:b", path: "/$"),
    album(10, .folderAlbum, "bad\nname", path: "/bad\nname"), album(11, .folder, "Trips"),
    album(12, .smartAlbum, "Best"),
  ]

  private static let values: [String: [(String, Int)]] = [
    "camera.model": [("X-T5", 1_200), ("iPhone 15", 1)], "camera.make": [("FUJIFILM", 1_200), ("X-T5", 3)],
    "camera.lens": [("XF35mmF1.4 R", 7)], "keywords": [("Sea", 2), ("sea side", 1), ("$(x)", 1), ("bad\nname", 1)],
  ]

  private static let backups = [
    BackupFile(
      path: "/b/photod-2026-11-20.sqlite", date: PhotoDate(microseconds: 0), byteCount: 1, assetCount: 12, isKept: false
    ),
    BackupFile(
      path: "/b/mine.sqlite", date: PhotoDate(microseconds: 0), byteCount: 1, assetCount: nil, isKept: true),
  ]

  private func completer(_ asked: (@Sendable (String?) -> Void)? = nil) throws -> Completer {
    Completer(
      program: try CommandDescription(dump: Photoctl._dumpHelp()),
      source: CompletionSource(
        albums: { socket in
          asked?(socket)
          return Self.albums
        }, keys: { _ in .known },
        values: { socket, key, prefix in
          asked?(socket)
          return (Self.values[key] ?? []).filter { $0.0.lowercased().hasPrefix(prefix.lowercased()) }
        }, backups: { _ in Self.backups }))
  }

  private func candidates(_ words: String..., current: String = "") async throws -> Candidates {
    try await completer().candidates(after: words, current: current)
  }

  private func texts(_ candidates: Candidates) -> [String] {
    if case .words(let words, _) = candidates { words.map(\.text) } else { ["\(candidates)"] }
  }

  private func bash(_ line: String) async throws -> [String] {
    let answer = try await Completion.text(["bash", line, " \t\n\"'@><=;|&(:"], completer())
    return answer.split(separator: "\n").dropFirst().map(String.init)
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func titlesOfTheUsersAlbumsFollowTheCommandsOfAlbums()
    async throws
  {
    #expect(texts(try await candidates("albums", "add")) == ["It's \"fun\""])
    #expect(texts(try await candidates("albums", "remove")) == ["It's \"fun\""])
    #expect(texts(try await candidates("albums", "delete", "Trips")) == ["Best", "It's \"fun\"", "Trips"])
    #expect(texts(try await candidates("albums", "smart", "--edit")) == ["Best"])
    #expect(try await candidates("albums", "smart") == .none)
    #expect(texts(try await candidates("albums", "add", "x", "--album")).contains("Favorites"))
    #expect(texts(try await candidates("import")) == ["files"])
    #expect(texts(try await candidates("albums", "create", "x", "--in")) == ["Trips"])
    #expect(texts(try await candidates("albums", "show")).contains("Favorites"))
    // Without a subcommand, the options are those of `list`.
    #expect(texts(try await candidates("albums", current: "--w")).contains("--watch"))
    #expect(texts(try await candidates("albums", "--fields")).contains("parentID"))
  }

  @Test func commandsComeFirst() async throws {
    let commands = texts(try await candidates())
    #expect(commands == Photoctl.configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"])
    #expect(texts(try await candidates("--socket", "/s")) == commands)
    #expect(texts(try await candidates("help")) == commands)
  }

  @Test func onlyOptionsThatCanStillBeGivenAreOffered() async throws {
    let all = texts(try await candidates("query", current: "-"))
    #expect(all.contains("--album") && all.contains("--no-favorite") && all.contains("--help"))
    let rest = texts(try await candidates("query", "--album", "--x", "--favorite", "--type", "image", current: "--"))
    #expect(!rest.contains("--album") && !rest.contains("--no-favorite") && rest.contains("--type"))
    #expect(try await candidates("show", "--", current: "-") == .files)
  }

  @Test func valuesAreThoseOfTheirOption() async throws {
    #expect(texts(try await candidates("query", "--type")) == ["image", "video", "audio"])
    #expect(texts(try await candidates("query", current: "--format=")).contains("--format=paths0"))
    #expect(try await candidates("--socket") == .files)
    #expect(try await candidates("favorite", "1") == .files)
    #expect(try await candidates("rescan", "a") == .none)
    #expect(try await candidates("query", "--limit") == .none)
    #expect(try await candidates("query", "--nope", current: "--nope=") == .none)
    #expect(texts(try await candidates("completions")) == ["bash", "zsh", "fish"])
  }

  @Test func everyOfferedAlbumNameMeansOneAlbum() async throws {
    let named = texts(try await candidates("query", "--album", current: "f"))
    #expect(
      named == [
        "Favorites", "Best", "It's \"fun\"", "folder:/a/2024", "folder:/b/2024", "folder:/favorites", "$(x) `y` a:b",
        "bad\nname",
      ])
    let first = texts(try await candidates("query", "--album"))
    #expect(first == ["Favorites", "Best", "It's \"fun\"", "$(x) `y` a:b", "bad\nname"])
    #expect(texts(try await candidates("query", "--album", current: "smart:")).first == "smart:favorites")
    #expect(texts(try await candidates("watch", current: "--album=")).first == "--album=Favorites")
  }

  @Test func valuesOfTheLibraryAreOffered() async throws {
    #expect(texts(try await candidates("query", "--camera")) == ["X-T5", "iPhone 15", "FUJIFILM"])
    #expect(texts(try await candidates("stats", "--camera", current: "x")) == ["X-T5"])
    #expect(texts(try await candidates("watch", "--lens")) == ["XF35mmF1.4 R"])
    #expect(texts(try await candidates("query", current: "--keyword=sea")) == ["--keyword=Sea", "--keyword=sea side"])
    #expect(try await bash("photoctl query --keyword 'sea s") == ["sea side"])
    #expect(try await bash("photoctl query --keyword \\$") == ["\\$\\(x\\)"])
    let fish = try await Completion.text(["fish", "photoctl", "stats", "--camera", "X"], completer())
    #expect(fish == "words\nX-T5\t1,200 assets\n")
    #expect(texts(try await candidates("stats", "--by")).contains("focal-length"))
  }

  /// A backup in another folder is a file.
  @Test func backupsAreOfferedByName() async throws {
    #expect(texts(try await candidates("restore")) == ["photod-2026-11-20.sqlite", "mine.sqlite"])
    #expect(texts(try await candidates("restore", current: "m")) == ["mine.sqlite"])
    #expect(try await candidates("restore", current: "x") == .files)
    #expect(try await candidates("restore", current: "./") == .files)
    let zsh = try await Completion.text(["zsh", "photoctl", "restore", "p"], completer())
    // The time is that of the computer's time zone, as in the table of `photoctl backup --list`.
    #expect(
      zsh == "words\nphotod-2026-11-20.sqlite\t\(WatchText.moment(PhotoDate(microseconds: 0)).dropLast(3)), 12 assets\n"
    )
  }

  @Test func theSocketOfTheLineIsAsked() async throws {
    try await confirmation(expectedCount: 3) { asked in
      let completer = try completer { socket in
        #expect(socket == "/s")
        asked()
      }
      _ = await completer.candidates(after: ["--socket", "/s", "query", "--album"], current: "")
      _ = await completer.candidates(after: ["query", "--socket=/s", "--album"], current: "")
      _ = await completer.candidates(after: ["--socket", "/s", "stats", "--lens"], current: "")
    }
  }

  @Test func sortKeysHaveDirections() async throws {
    #expect(texts(try await candidates("query", "--sort")) == KnownKeys.known.sortKeys)
    #expect(texts(try await candidates("query", "--sort", current: "id:")) == ["id:asc", "id:desc"])
    #expect(
      texts(try await candidates("query", "--sort", current: "id")).prefix(16).suffix(3) == ["id", "id:asc", "id:desc"])
  }

  @Test func fieldsContinueAfterAComma() async throws {
    #expect(texts(try await candidates("query", "--fields")) == Asset.fields.map(\.name))
    let more = try await candidates("query", "--fields", current: "id,path,cam")
    #expect(texts(more).allSatisfy { $0.hasPrefix("id,path,") } && !texts(more).contains("id,path,id"))
    if case .words(_, let endsWord) = more { #expect(!endsWord) }
    #expect(texts(try await candidates("albums", "--fields")).contains("keyAssetID"))
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func bashGetsTheTextToInsert() async throws {
    #expect(try await bash("photoctl stat") == ["status", "stats"])
    #expect(try await bash("A=1 ./photoctl query --album It") == ["It\\'s\\ \\\"fun\\\""])
    #expect(try await bash("photoctl query --album it") == ["It\\'s\\ \\\"fun\\\""])
    #expect(try await bash("photoctl query --album=It\\'s\\ ") == ["It\\'s\\ \\\"fun\\\""])
    #expect(try await bash("photoctl query --album 'It") == ["It'\\''s \"fun\""])
    #expect(try await bash("photoctl query --album \"It") == ["It's \\\"fun\\\"\""])
    #expect(try await bash("photoctl query --album \\$") == ["\\$\\(x\\)\\ \\`y\\`\\ a:b"])
    #expect(try await bash("photoctl query --album \"\\$") == ["\\$(x) \\`y\\` a:b"])
    #expect(try await bash("photoctl query --album \\$\\(x\\)\\ \\`y\\`\\ a:") == ["b"])
    #expect(try await bash("photoctl query --album folder:/a") == ["/a/2024"])
    #expect(try await bash("photoctl query --sort id:") == ["asc", "desc"])
    #expect(try await bash("photoctl query --album nothing").isEmpty)
  }

  /// bash parses the inserted text as the candidate again.
  @Test func insertedTextIsParsedAsTheCandidate() {
    let texts = [
      "a b", "it's", "\"", "\\", "$x", "`x`", "a!b", "*?[", "~", "#", "é東 👩‍👩‍👧", "a:b=c@d", "-", "'", "a'b\"c\\d$e`f!g",
      "{x,y}",
      ";|&()<>",
    ]
    for text in texts {
      for opening in ["", "'", "\"", "x=", "x:"] {
        let prefix = opening.hasPrefix("x") ? opening : ""
        let line = BashLine("photoctl " + opening)
        let replacement = line.replacement(for: prefix + text) ?? "none"
        let closing = ["'", "\""].contains(opening) && !replacement.hasSuffix(opening) ? opening : ""
        let whole = BashLine("photoctl \(opening)\(replacement)\(closing) ")
        #expect(whole.words == [prefix + text], "\(opening)\(replacement)")
      }
    }
  }

  @Test func zshAndFishGetTheWordAndItsDescription() async throws {
    let answer = try await Completion.text(["zsh", "photoctl", "query", "--album", ""], completer())
    #expect(answer.hasPrefix("words\nFavorites\t2 assets\nBest\t2 assets\nIt's \"fun\"\t2 assets\n"))
    #expect(!answer.contains("bad"))
    let fish = try await Completion.text(["fish", "photoctl", "query", "'--album=a b"], completer())
    #expect(fish.hasPrefix("words\n--album=Favorites\t2 assets\n"))
    #expect(try await Completion.text(["csh", "photoctl", ""], completer()) == "")
    #expect(try await Completion.text(["bash"], completer()) == "")
  }

  @Test(arguments: Shell.allCases)
  func scriptsEqualTheirSnapshots(shell: Shell) throws {
    try expectSnapshot(shell.script, "completions.\(shell.rawValue)")
  }
}
