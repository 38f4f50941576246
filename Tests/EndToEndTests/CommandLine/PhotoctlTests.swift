import Dispatch
import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing
import Varlink

/// Tests that run photoctl as a process.
@Suite struct PhotoctlTests {
  struct Result {
    let status: Int32
    let output: Data
    let errors: String
    var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// Runs photoctl until it ends. Its input and outputs are files and not pipes, because a full pipe would block it.
  private func photoctl(
    _ fixture: DaemonFixture, _ arguments: [String], input: Data = Data(), environment: [String: String] = [:]
  ) async throws -> Result {
    try await Self.photoctl(in: fixture.directory, fixture.socket, arguments, input, environment)
  }

  static func photoctl(
    in directory: String, _ socket: String, _ arguments: [String], _ input: Data = Data(),
    _ environment: [String: String] = [:]
  ) async throws -> Result {
    let run = directory + "/" + UUID().uuidString
    try input.write(to: URL(fileURLWithPath: run + ".in"))
    try Data().write(to: URL(fileURLWithPath: run + ".out"))
    try Data().write(to: URL(fileURLWithPath: run + ".err"))
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
    process.arguments = ["--socket", socket] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let standardInput = try #require(FileHandle(forReadingAtPath: run + ".in"))
    process.standardInput = standardInput
    let standardOutput = try #require(FileHandle(forWritingAtPath: run + ".out"))
    process.standardOutput = standardOutput
    let standardError = try #require(FileHandle(forWritingAtPath: run + ".err"))
    process.standardError = standardError
    try process.run()
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      DispatchQueue.global().async {
        process.waitUntilExit()
        continuation.resume()
      }
    }
    return Result(
      status: process.terminationStatus, output: try Data(contentsOf: URL(fileURLWithPath: run + ".out")),
      errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: run + ".err")), as: UTF8.self))
  }

  private func favorites(_ fixture: DaemonFixture) async throws -> Int {
    try await fixture.ids(FetchOptions(predicate: "isFavorite == true")).ids.count
  }

  @Test(.timeLimit(.minutes(10))) func statusWaitsForPhotodToStart() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      let (directory, socket) = (fixture.directory, fixture.socket)
      let began = ContinuousClock.now
      let inVain = try await Self.photoctl(in: directory, socket, ["status", "--wait", "--timeout", "0.5"])
      #expect(inVain.status == 69 && inVain.errors.contains("there is no socket"), "\(inVain.errors)")
      #expect(ContinuousClock.now - began >= .milliseconds(500))
      async let waiting = Self.photoctl(in: directory, socket, ["status", "--wait"])
      try fixture.spawn()
      let status = try await waiting
      #expect(status.status == 0 && status.text.hasPrefix("live: 1 asset\n"), "\(status.text + status.errors)")
      // While photod is suspended, the kernel accepts connections to its socket, but nothing replies.
      fixture.kill(SIGSTOP)
      defer { fixture.kill(SIGCONT) }
      let late = try await Self.photoctl(in: directory, socket, ["status", "--wait", "--timeout", "0.2"])
      #expect(late.status == 75, "\(late.errors)")
    }
  }

  @Test func syncedQueryWaitsForEarlierEvents() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg", 1)
      try await fixture.start()
      try await fixture.synchronize()
      let watch = try fixture.watchProcessID()
      kill(watch, SIGSTOP)
      defer { kill(watch, SIGCONT) }
      try fixture.write("b.jpg", 2)
      #expect(try await photoctl(fixture, ["query", "--count"]).text == "1\n")
      let (directory, socket) = (fixture.directory, fixture.socket)
      async let synced = Self.photoctl(in: directory, socket, ["query", "--synced", "--count"])
      struct Clients: Decodable {
        struct Client: Decodable { let method: String? }
        let clients: [Client]
      }
      let client = try await fixture.connect()
      for try await reply in client.stream("org.photod.manage.Clients", VarlinkEmpty(), of: Clients.self)
      where reply.clients.contains(where: { $0.method == "org.photod.library.Synchronize" }) { break }
      kill(watch, SIGCONT)
      #expect(try await synced.text == "2\n")
    }
  }

  @Test func outputOfQueryIsInputOfTheNextCommand() async throws {
    try await DaemonFixture.with { fixture in
      // There are more photos than one call accepts. One name has two lines, and one is not valid UTF-8.
      for index in 0..<1_100 { try fixture.write("\(index).jpg", index) }
      try fixture.write("a\nb 'c'.jpg")
      try fixture.write("plain.jpg")
      let bytes = Array(fixture.path("").utf8) + [0x78, 0xFF] + Array(".jpg".utf8)
      try #require(rename(fixture.path("plain.jpg"), bytes.map { CChar(bitPattern: $0) } + [0]) == 0)
      try await fixture.start()
      try await fixture.synchronize()
      let paths = try await photoctl(fixture, ["query", "--format", "paths0"])
      #expect(paths.output.split(separator: 0).count == 1_102)
      let all = try await photoctl(fixture, ["favorite", "-0", "-"], input: paths.output)
      #expect(all.status == 0 && all.output.isEmpty && all.errors == "1,102 photos are favorites now\n")
      #expect(try await favorites(fixture) == 1_102)
      let lines = try await photoctl(fixture, ["query", "--favorite", "--limit", "1050"])
      let some = try await photoctl(fixture, ["unfavorite", "-"], input: lines.output)
      #expect(some.errors == "1,050 photos are no longer favorites\n", "\(some)")
      #expect(try await favorites(fixture) == 52)
      let shown = try await photoctl(fixture, ["show", "--json", "-0", "-"], input: paths.output)
      #expect(shown.status == 0 && shown.text.components(separatedBy: "\"resources\"").count == 1_103)
      let why = try await photoctl(fixture, ["why", "-0", "-"], input: Data(paths.output.prefix(2_000)))
      #expect(why.text.contains(fixture.photos) && why.text.contains(": indexed: "))
      // The lines of `query` are JSON. An id in such a line is the id of an asset, and not the name of a file.
      let two = try await photoctl(fixture, ["query", "--limit", "2"])
      let whyTwo = try await photoctl(fixture, ["why", "-"], input: two.output)
      #expect(whyTwo.text.components(separatedBy: ": indexed: ").count == 3, "\(whyTwo)")
    }
  }

  @Test func albumsAndEditsSurviveKillAndTheLossOfTheCatalog() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<4 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      func run(_ arguments: String..., input: String = "") async throws -> Result {
        try await photoctl(fixture, arguments, input: Data(input.utf8))
      }
      func list(_ album: String) async throws -> [String] {
        try await run("albums", "show", album, "--format", "paths").text.split(separator: "\n").map {
          String($0.suffix(5))
        }
      }
      let path = { (index: Int) in fixture.path("\(index).jpg") }
      let folder = try await run("albums", "mkdir", "Trips", "--json")
      #expect(folder.status == 0 && folder.text.contains("\"id\""))
      let rome = try await run("albums", "create", "Rome", "--in", "trips", path(2), path(0))
      #expect(rome.status == 0 && rome.text.hasPrefix("id:"), "\(rome)")
      #expect(rome.errors == "The album 'Rome' was made, with 2 photos.\n")
      let added = try await run("albums", "add", "Rome", "--before", path(0), "-", input: path(3) + "\n" + path(1))
      #expect(added.errors == "2 photos were placed in the album 'Rome'\n", "\(added)")
      #expect(try await list("Rome") == ["2.jpg", "3.jpg", "1.jpg", "0.jpg"])
      let addedAgain = try await run("albums", "add", "Rome", "--before", path(0), "-", input: path(3) + "\n" + path(1))
      #expect(addedAgain.errors == "nothing to do: 2 photos were in these places already\n", "\(addedAgain)")
      let dryAdd = try await run("albums", "add", "Rome", "-n", path(0), path(1))
      #expect(dryAdd.errors == "2 photos are in the album 'Rome' already, and would be moved\n", "\(dryAdd)")
      #expect(try await run("albums", "add", "Rome", "-n", "999999").status == 66)
      let dryMove = try await run("albums", "move", "Rome", "--top", "--dry-run")
      #expect(dryMove.errors == "The album 'Rome' would be moved.\n", "\(dryMove)")
      #expect(try await list("Rome") == ["2.jpg", "3.jpg", "1.jpg", "0.jpg"])
      #expect(try await run("albums", "--format", "json").text.contains("\"parentID\""))
      #expect(
        try await run("albums", "remove", "Rome", "-n", "--where", "filename == '3.jpg'").errors.contains(
          "1 photo would be"))
      #expect(try await run("albums", "remove", "Rome", path(3)).status == 0)
      let edited = try await run(
        "edit", path(1), "--title", "Trevi", "--keyword", "+sea", "--keyword=-sun", "--rating", "4",
        "--location=-33.5,151")
      #expect(edited.errors == "1 photo was edited\n", "\(edited)")
      #expect(try await run("edit", "--where", "title == 'Trevi'", "--shift=-1h30m").status == 0)
      let before = try await run("show", path(1), "--json").text
      #expect(before.contains("\"Trevi\"") && before.contains("\"user\"") && before.contains("151"))
      let smart = try await run("albums", "smart", "Sea", "--in", "Trips", "--keyword", "sea")
      #expect(
        smart.text.hasPrefix("id:") && smart.errors == "The smart album 'Sea' was made, with 1 photo.\n", "\(smart)")
      #expect(try await list("Sea") == ["1.jpg"])
      let edit = try await run("albums", "smart", "--edit", "Sea", "--sort", "filename", "--limit", "3", "jpg")
      #expect(edit.errors == "The smart album 'Sea' has another query now, with 3 photos.\n", "\(edit)")
      let wrong = try await run("albums", "smart", "Sea", "--where", "rating >")
      #expect(wrong.status == 65 && wrong.errors.contains("\n    rating >\n            ^\n"), "\(wrong)")
      let noAlbum = try await run("albums", "add", "Sea", path(2))
      #expect(noAlbum.status == 66 && noAlbum.errors.contains("`photoctl albums smart --edit Sea`"), "\(noAlbum)")
      let failed = try await run("albums", "move", "Trips", "--to", "Trips")
      #expect(failed.status == 65 && failed.errors.contains("help albums move"), "\(failed)")
      #expect(try await run("albums", "delete", "Nowhere").status == 66)
      #expect(try await run("edit", path(1), "--clear", "titel").errors.contains("Did you mean title?"))

      fixture.kill(SIGKILL)
      for name in try FileManager.default.contentsOfDirectory(atPath: fixture.directory)
      where name.hasPrefix("catalog.sqlite") {
        try FileManager.default.removeItem(atPath: fixture.directory + "/" + name)
      }
      try await fixture.start()
      try await fixture.synchronize()
      #expect(try await list("Rome") == ["2.jpg", "1.jpg", "0.jpg"])
      #expect(try await list("Sea") == ["0.jpg", "1.jpg", "2.jpg"])
      let queries = try await run("albums", "--fields", "title,query", "--format", "tsv").text
      #expect(queries.contains("Sea\t--text \"jpg\" --sort filename --limit 3\n"), "\(queries)")
      let after = try await run("show", path(1), "--json").text
      #expect(after.contains("\"Trevi\"") && after.contains("\"user\"") && after.contains("151"))
      #expect(try await run("edit", path(1), "--clear", "title,creationDate,location").status == 0)
      #expect(try await !run("show", path(1), "--json").text.contains("Trevi"))
      let deleted = try await run("albums", "delete", "Trips", "Rome")
      #expect(deleted.errors.contains("The album 'Rome' was deleted. Its 3 photos stay."), "\(deleted)")
      #expect(deleted.errors.contains("The smart album 'Sea' was deleted. Its 3 photos stay."))
      #expect(try await run("query", "--count").text == "4\n")

      let twins = [try await run("albums", "create", "Twin", path(0)), try await run("albums", "create", "Twin")]
      let candidates = zip(twins, ["1 photo", "no photos"]).map {
        "\($0.text.trimmingCharacters(in: .newlines)) (\($1))"
      }
      for command in [["albums", "delete", "Twin"], ["query", "--album", "Twin"], ["albums", "show", "Twin"]] {
        let ambiguous = try await photoctl(fixture, command)
        #expect(
          ambiguous.status == 66
            && ambiguous.errors.hasPrefix(
              "photoctl: 2 albums are called 'Twin'\n  Name one of them: \(candidates.joined(separator: ", ")).\n"),
          "\(ambiguous)")
      }
      #expect(try await run("undo").status == 0)
      #expect(try await run("undo").status == 0)

      let refused = try await run("albums", "create", " ")
      #expect(refused.status == 64 && refused.errors.contains("The title is ' '"), "\(refused)")
      let missing = try await run("albums", "add", "Nowhere", "1")
      #expect(missing.status == 66 && missing.errors.hasSuffix("See `photoctl help albums add`.\n"), "\(missing)")
      #expect(missing.errors.contains("`photoctl albums create Nowhere` makes one."), "\(missing)")
      let disk = (fixture.path("1.jpg") as NSString).deletingLastPathComponent
      for (name, message) in [
        ("Recents", "'Recents' is an album of photod, and no album of yours"),
        ("smart:favorites", "'smart:favorites' is an album of photod, and no album of yours"),
        ("folder:\(disk)", "'folder:\(disk)' is a folder on your disk, and no album of yours"),
        ("id:99999", "no album of yours has the id 99999"), ("Nowhere", "there is no album of yours called 'Nowhere'"),
      ] {
        let fixed = try await run("albums", "delete", name)
        #expect(fixed.status == 66 && fixed.errors.hasPrefix("photoctl: \(message)\n"), "\(fixed)")
        #expect(!fixed.errors.contains(" create \(name)"), "\(fixed)")
      }
      for (arguments, message) in [
        (["query", "--taken", "1999", "--format"], "No photos were found.\n"),
        (["stats", "--taken", "1999", "--format"], "No photos were found.\n"),
        (["albums", "show", "Videos", "--format"], "The album has no visible photos.\n"),
      ] {
        let table = try await photoctl(fixture, arguments + ["table"])
        #expect(table.status == 0 && table.text.isEmpty && table.errors == message, "\(table)")
        let lines = try await photoctl(fixture, arguments + ["jsonl"])
        #expect(lines.status == 0 && lines.text.isEmpty && lines.errors.isEmpty, "\(lines)")
      }
      let none = try await run("undo", "--list", "--origin", "nobody")
      #expect(none.text.isEmpty && none.errors == "There is no change that can be undone.\n", "\(none)")
      let undoable = try await run("undo", "--list").text.split(separator: "\n")
      try #require(undoable.count > 1)
      #expect(undoable[0].split(separator: " ") == ["NUMBER", "TIME", "PROGRAM", "CHANGE"])
      #expect(undoable[1].hasSuffix("client:photoctl  delete, 'Trips', 'Rome', 'Sea'"), "\(undoable)")
      let dry = try await run("undo", "-n")
      #expect(dry.errors.contains("would be undone: delete, 'Trips', 'Rome', 'Sea'."), "\(dry)")
      #expect(try await run("undo").errors.contains("was undone: delete, 'Trips', 'Rome', 'Sea'."))
      #expect(try await list("Rome") == ["2.jpg", "1.jpg", "0.jpg"])
      #expect(try await list("Sea") == ["0.jpg", "1.jpg", "2.jpg"])
      // The edit before it is the next.
      #expect(try await run("undo", "--json").text.contains("\"assetCount\" : 1"))
      #expect(try await run("show", path(1), "--json").text.contains("Trevi"))
      #expect(try await run("undo", "999999").status == 66)
    }
  }

  @Test func assetsAreHiddenAndMadeVisibleAgain() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<3 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      for (command, words) in [
        ("hide", "hidden"), ("unhide", "visible"), ("favorite", "favorites"), ("unfavorite", "no longer be favorites"),
      ] {
        let dry = try await photoctl(fixture, [command, "--dry-run", fixture.path("0.jpg"), fixture.path("1.jpg")])
        #expect(dry.status == 0 && dry.errors.contains("2 photos would ") && dry.errors.contains(words), "\(dry)")
        #expect(try await photoctl(fixture, [command, "-n", "999999"]).status == 66)
      }
      #expect(try await photoctl(fixture, ["query", "--count"]).text == "3\n")
      #expect(try await photoctl(fixture, ["query", "--favorite", "--count"]).text == "0\n")
      let hidden = try await photoctl(fixture, ["hide", fixture.path("0.jpg"), fixture.path("1.jpg")])
      #expect(hidden.status == 0 && hidden.errors == "2 photos are hidden now\n", "\(hidden)")
      #expect(try await photoctl(fixture, ["query", "--count"]).text == "1\n")
      let listed = try await photoctl(fixture, ["query", "--hidden", "--format", "paths"])
      #expect(Set(listed.text.split(separator: "\n")) == [fixture.path("0.jpg")[...], fixture.path("1.jpg")[...]])
      let both = [fixture.path("0.jpg"), fixture.path("2.jpg")]
      for (command, first, again) in [
        ("hide", "1 photo is hidden now; 1 photo was hidden already\n", "2 photos were hidden already"),
        ("unhide", "2 photos are visible now\n", "2 photos were visible already"),
        ("favorite", "2 photos are favorites now\n", "2 photos were favorites already"),
        ("unfavorite", "2 photos are no longer favorites\n", "2 photos were no favorites"),
        ("edit", "2 photos were edited\n", "2 photos had these values already"),
      ] {
        let options = command == "edit" ? ["--title", "x"] : []
        #expect(try await photoctl(fixture, [command] + both + options).errors == first)
        let repeated = try await photoctl(fixture, [command] + both + options + ["--json"])
        #expect(repeated.status == 0 && repeated.errors == "nothing to do: \(again)\n", "\(repeated)")
        #expect(repeated.text.contains("\"ids\""))
      }
      #expect(try await photoctl(fixture, ["edit"] + both + ["--clear", "title"]).status == 0)
      #expect(try await photoctl(fixture, ["hide", fixture.path("0.jpg")]).status == 0)
      let refused = try await photoctl(fixture, ["unhide", fixture.path("0.jpg"), "999999"])
      #expect(refused.status == 66)
      let visible = try await photoctl(fixture, ["unhide", "-"], input: Data((fixture.path("0.jpg") + "\n").utf8))
      #expect(visible.errors == "1 photo is visible now\n", "\(visible)")
      #expect(try await photoctl(fixture, ["query", "--count"]).text == "2\n")
    }
  }

  /// A repeated command succeeds, and says that nothing was to be done.
  @Test func commandsOfAlbumsSayWhatWasSoAlready() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<3 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let path = { (index: Int) in fixture.path("\(index).jpg") }
      func errors(_ arguments: String...) async throws -> String {
        let result = try await photoctl(fixture, ["albums"] + arguments)
        #expect(result.status == 0, "\(result)")
        return result.errors
      }
      _ = try await errors("mkdir", "Trips")
      _ = try await errors("create", "Rome", path(0))
      _ = try await errors("smart", "Sea", "--where", "title == 'sea'")
      for (arguments, first, again) in [
        (
          ["rename", "Rome", "Rome"], "nothing to do: the album 'Rome' had this title already",
          "nothing to do: the album 'Rome' had this title already"
        ),
        (
          ["rename", "Rome", "Rome", "-n"], "nothing to do: the album 'Rome' had this title already",
          "nothing to do: the album 'Rome' had this title already"
        ),
        (
          ["move", "Rome", "--to", "Trips"], "The album 'Rome' was moved.",
          "nothing to do: the album 'Rome' was in this place already"
        ),
        (
          ["move", "Trips", "--top"], "nothing to do: the folder of albums 'Trips' was in this place already",
          "nothing to do: the folder of albums 'Trips' was in this place already"
        ),
        (
          ["smart", "Sea", "--edit", "--where", "title == 'beach'"],
          "The smart album 'Sea' has another query now, with 0 photos.",
          "nothing to do: the smart album 'Sea' had this query already"
        ),
        (
          ["add", "Rome", path(1)], "1 photo was placed in the album 'Rome'",
          "nothing to do: 1 photo was in this place already"
        ),
        (
          ["add", "Rome", path(0)], "1 photo was in the album 'Rome' already, and was moved",
          "nothing to do: 1 photo was in this place already"
        ),
        (
          ["add", "Rome", path(0), path(2)], "1 photo was placed in the album 'Rome'; 1 photo was in it already",
          "nothing to do: 2 photos were in these places already"
        ),
        (
          ["remove", "Rome", path(1)], "1 photo was removed from the album 'Rome'",
          "nothing to do: 1 photo was not in this album"
        ),
        (
          ["remove", "Rome", path(1), path(2)],
          "1 photo was removed from the album 'Rome'; 1 photo was not in this album",
          "nothing to do: 2 photos were not in this album"
        ),
        (
          ["remove", "Rome", "--where", "title == 'x'"], "nothing to do: no photos were found",
          "nothing to do: no photos were found"
        ),
      ] {
        #expect(try await photoctl(fixture, ["albums"] + arguments).errors == first + "\n")
        let repeated = try await photoctl(fixture, ["albums"] + arguments)
        #expect(repeated.status == 0 && repeated.errors == again + "\n", "\(repeated)")
      }
      #expect(try await errors("cover", "Rome", path(0)).hasSuffix(" now.\n"))
      #expect(try await errors("cover", "Rome", path(0)) == "nothing to do: the album 'Rome' had this cover already\n")
      #expect(
        try await errors("add", "Rome", "-n", path(0), path(1))
          == "1 photo would be placed in the album 'Rome'; 1 photo is in it already\n")
      #expect(
        try await errors("remove", "Rome", "-n", path(0), path(1))
          == "1 photo would be removed from the album 'Rome'; 1 photo is not in this album\n")
    }
  }

  @Test func queriesOfCommandsFindHiddenAssetsOnlyIfAsked() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<3 { try fixture.write("in/\(index).jpg", index) }
      try fixture.write("out.jpg", 5)
      try await fixture.start()
      try await fixture.synchronize()
      func run(_ arguments: String...) async throws -> Result { try await photoctl(fixture, arguments) }
      let inside = fixture.path("in")
      #expect(try await run("hide", "--under", inside).errors == "3 photos are hidden now\n")
      #expect(
        try await run("edit", "--under", inside, "--rating", "3").errors == "nothing to do: no photos were found\n")
      #expect(
        try await run("edit", "--under", inside, "--hidden", "--rating", "3").errors == "3 photos were edited\n")
      #expect(try await run("albums", "create", "Best", "--text", "jpg").errors.contains("with 1 photo."))
      #expect(
        try await run("albums", "add", "Best", "--hidden", "--where", "filename != '2.jpg'").errors
          == "2 photos were placed in the album 'Best'\n")
      #expect(
        try await run("albums", "remove", "Best", "--hidden", "--where", "filename == '0.jpg'").errors
          == "1 photo was removed from the album 'Best'\n")
      // The search of `unhide` needs no option for hidden assets.
      let visible = try await run("unhide", "--where", "filename IN {'0.jpg', 'out.jpg'}")
      #expect(visible.errors == "1 photo is visible now\n", "\(visible)")
      #expect(try await run("unhide", "--album", "Best").errors == "1 photo is visible now\n")
      #expect(try await run("favorite", "--album", "Best").errors == "2 photos are favorites now\n")
      #expect(try await run("favorite", "--under", fixture.path("none")).status == 66)
      let wrong = try await run("edit", "--where", "rating >", "--title", "x")
      #expect(wrong.status == 65 && wrong.errors.contains("\n    rating >\n            ^\n"), "\(wrong)")
    }
  }

  @Test func albumsAreRenamedAndMoved() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      func run(_ arguments: String...) async throws -> Result { try await photoctl(fixture, arguments) }
      func titles() async throws -> [String] {
        let text = try await run("albums", "--fields", "kind,title,parentID", "--format", "tsv").text
        let rows = text.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        return rows.filter { $0[0] == "album" || $0[0] == "folder" }.map { $0[1] + ($0[2].isEmpty ? "" : " (in)") }
      }
      for title in ["a", "b", "c"] { _ = try await run("albums", "create", title) }
      _ = try await run("albums", "mkdir", "d")
      let dry = try await run("albums", "rename", "-n", "c", "aa", "--json")
      #expect(dry.errors == "The album 'c' would be called 'aa'.\n" && dry.text.contains("\"ids\""), "\(dry)")
      #expect(try await titles() == ["a", "b", "c", "d"])
      #expect(try await run("albums", "rename", "c", "aa").errors == "The album 'c' is called 'aa' now.\n")
      #expect(try await titles() == ["a", "aa", "b", "d"])
      #expect(try await run("albums", "move", "b", "--before", "a", "--json").text.contains("\"ids\""))
      #expect(try await titles() == ["b", "a", "aa", "d"])
      _ = try await run("albums", "move", "a", "--to", "d")
      #expect(try await titles() == ["b", "aa", "d", "a (in)"])
      // The place before an album is in its folder.
      _ = try await run("albums", "move", "aa", "--before", "a")
      #expect(try await titles() == ["b", "d", "aa (in)", "a (in)"])
      #expect(try await run("albums", "move", "aa", "--top").errors == "The album 'aa' was moved.\n")
      #expect(try await titles() == ["b", "d", "a (in)", "aa"])
      #expect(try await run("albums", "delete", "--json", "d").text.components(separatedBy: ",").count == 2)
      let smart = try await run("albums", "smart", "-n", "S", "jpg")
      #expect(smart.errors == "The smart album 'S' would be made, with 1 photo.\n" && smart.text.isEmpty, "\(smart)")
      _ = try await run("albums", "smart", "S", "jpg")
      let edit = try await run("albums", "smart", "--edit", "S", "--dry-run", "--rating", "1")
      #expect(edit.errors == "The smart album 'S' would have another query, with 0 photos.\n", "\(edit)")
      #expect(try await run("query", "--album", "S", "--count").text == "1\n")
    }
  }

  @Test func dryRunOfARestoreNamesTheBackupAndChangesNothing() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let backup = try await photoctl(fixture, ["backup"]).text.split(separator: "\n").first
      let path = String(try #require(backup))
      try fixture.write("b.jpg", 1)
      let token = try await fixture.synchronize()
      let name = try #require(path.split(separator: "/").last)
      let dry = try await photoctl(fixture, ["restore", "--dry-run", String(name)])
      #expect(dry.status == 0 && dry.text.hasPrefix("The backup \(path) of "), "\(dry)")
      #expect(dry.text.contains(", with 1 asset, "), "\(dry)")
      #expect(dry.text.contains("would replace the catalog, which has 2 assets.\n"), "\(dry)")
      let missing = try await photoctl(fixture, ["restore", "-n", "none.sqlite"])
      #expect(missing.status == 66 && missing.errors.hasPrefix("photoctl: there is no backup 'none.sqlite'\n"))
      let now = try await fixture.synchronize()
      #expect(now.split(separator: ".").prefix(2) == token.split(separator: ".").prefix(2))
      #expect(try await photoctl(fixture, ["query", "--count"]).text == "2\n")
    }
  }

  @Test func captionAndDateAreEditedAndCleared() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let path = fixture.path("a.jpg")
      func shown() async throws -> Asset? { try await fixture.assets().first }
      let before = try await shown()
      let edit = try await photoctl(
        fixture, ["edit", path, "--caption", "Two\nlines", "--date", "2024-07-21T10:00:00+02:00"])
      #expect(edit.errors == "1 photo was edited\n", "\(edit)")
      let after = try await shown()
      #expect(after?.caption == "Two\nlines" && after?.creationDate.description == "2024-07-21T10:00:00+02:00")
      #expect(after?.creationDateSource == .user)
      let cleared = try await photoctl(fixture, ["edit", path, "--clear", "caption,creationDate"])
      #expect(cleared.status == 0, "\(cleared)")
      #expect(try await shown() == before)
    }
  }

  @Test func whyNamesEachPathInJSONAndContinuesAfterAnError() async throws {
    struct Answer: Decodable {
      let path: String
      let state: String
    }
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let paths = [fixture.path("a.jpg"), fixture.path("b.jpg")]
      let why = try await photoctl(fixture, ["why", "--json", paths[0], "999999", paths[1]])
      #expect(why.status == 66 && why.errors.hasPrefix("photoctl: no asset has the id 999999\n"), "\(why)")
      let answers = try why.text.components(separatedBy: "}\n").filter { !$0.isEmpty }.map {
        try JSONDecoder().decode(Answer.self, from: Data(($0 + "}").utf8))
      }
      #expect(answers.map(\.path) == paths && answers.map(\.state) == ["indexed", "missing"])
    }
  }

  /// The catalog has the path of a root without symbolic links, so photoctl must resolve the links in an argument.
  @Test func pathsThroughALinkToARootAreUnderstood() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("sub/a.jpg")
      let link = fixture.directory + "/link"
      try #require(symlink(fixture.photos, link) == 0)
      try await fixture.start(roots: [link])
      try await fixture.synchronize()
      let path = link + "/sub/a.jpg"
      #expect(try await photoctl(fixture, ["why", path]).text.hasPrefix("indexed: "))
      #expect(try await photoctl(fixture, ["show", path]).status == 0)
      #expect(try await photoctl(fixture, ["favorite", path]).errors == "1 photo is a favorite now\n")
      #expect(try await photoctl(fixture, ["rescan", link + "/sub"]).status == 0)
      for options in [["--album", "folder:\(link)/sub"], ["--under", link], ["--under", link + "/sub"]] {
        #expect(try await photoctl(fixture, ["query", "--count"] + options).text == "1\n", "\(options)")
      }
      let album = try await photoctl(fixture, ["albums", "show", "folder:\(link)/sub", "--format", "paths"])
      #expect(album.text == fixture.path("sub/a.jpg") + "\n", "\(album)")
      // A link below the root is not followed.
      try #require(symlink(fixture.path("sub"), fixture.path("inner")) == 0)
      let inner = try await photoctl(fixture, ["why", link + "/inner/a.jpg"])
      #expect(inner.text.contains("\(fixture.path("inner")) is a symbolic link"), "\(inner)")
    }
  }

  /// A folder is unknown only if neither the disk nor the library has it. A drive that is away keeps its folders.
  @Test func aFolderOfAnOfflineRootCanBeQueried() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("sub/a.jpg")
      try #require(mkdir(fixture.path("empty"), 0o700) == 0)
      try await fixture.start()
      try await fixture.synchronize()
      try #require(rename(fixture.photos, fixture.photos + ".away") == 0)
      try await eventually("the root is offline", within: .seconds(120)) {
        try await fixture.status().roots.map(\.state) == [.offline]
      }
      for (folder, count) in [("", "1"), ("/sub", "1"), ("/empty", "0")] {
        let result = try await photoctl(fixture, ["query", "--count", "--under", fixture.photos + folder])
        #expect(result.text == count + "\n" && result.status == 0, "\(folder): \(result)")
      }
      let unknown = try await photoctl(fixture, ["query", "--under", fixture.path("nowhere")])
      #expect(unknown.status == 66 && unknown.text.isEmpty, "\(unknown)")
    }
  }

  @Test func oneMissingAssetCancelsTheWholeCommand() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<3 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let id = try #require(try await fixture.ids().ids.first)
      let path = try await photoctl(
        fixture, ["favorite", "-"], input: Data("\(id)\n\n\(fixture.path("9.jpg"))\n".utf8))
      #expect(path.status == 66 && path.output.isEmpty)
      #expect(
        path.errors.hasPrefix("photoctl: line 3 of standard input: '\(fixture.path("9.jpg"))' is not in the library\n"))
      let number = try await photoctl(fixture, ["favorite", "-"], input: Data("\(id)\n999999".utf8))
      #expect(number.status == 66)
      #expect(number.errors.hasPrefix("photoctl: line 2 of standard input: no asset has the id 999999\n"))
      #expect(try await favorites(fixture) == 0)
      // A command that only reads prints the assets that exist.
      let show = try await photoctl(fixture, ["show", "--json", "999999", "\(id)"])
      #expect(show.status == 66 && show.text.contains("\"id\" : \(id)"))
      let nothing = try await photoctl(fixture, ["favorite", "-"])
      #expect(nothing.status == 0 && nothing.errors == "nothing to do: no photos were found\n")
    }
  }

  @Test func errorsOfWrongCommandLinesNameTheMistake() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      let nowhere = fixture.path("nowhere")
      let cases: [([String], Int32, String)] = [
        (["help", "nope"], 64, "photoctl: there is no command 'nope'\n"),
        (["qurey"], 64, "photoctl: there is no command 'qurey'\n  Did you mean 'query'?\n"),
        (["query", "--wat"], 64, "photoctl: there is no option '--wat'\n"),
        (["query", "--limit", "-1"], 64, "photoctl: --limit is -1; it must be 1 or more.\n"),
        (["albums", "--containing", "999999"], 66, "photoctl: no asset has the id 999999\n"),
        (["why", "999999"], 66, "photoctl: no asset has the id 999999\n"),
        (
          ["albums", "--containing", fixture.photos], 66,
          "photoctl: '\(fixture.photos)' is a folder, and no photo\n  `photoctl query --under "
        ),
        (["query", "--under", "/nowhere"], 66, "photoctl: there is no folder '/nowhere', on disk or in the library\n"),
        (["watch", "--under", "/nowhere"], 66, "photoctl: there is no folder '/nowhere', on disk or in the library\n"),
        (["query", "--under", "/usr"], 66, "photoctl: '/usr' is in none of the library's folders\n"),
        (
          ["query", "--under", nowhere], 66,
          "photoctl: there is no folder '\(nowhere)', on disk or in the library\n  Check the spelling. "
        ),
        (
          ["stats", "--under", nowhere], 66,
          "photoctl: there is no folder '\(nowhere)', on disk or in the library\n  Check the spelling. "
        ),
        (["query", "--album", "folder:\(nowhere)"], 66, "photoctl: there is no album 'folder:\(nowhere)'\n"),
        (
          ["query", "--where", "mediaType = image"], 65,
          "photoctl: a value of mediaType must be in quotes: 'image'\n    mediaType = image\n                ^\n"
        ),
        (
          ["query", "--taken", "2024-13"], 64,
          "photoctl: The value '2024-13' is invalid for '--taken <when>': there is no month 13\n"
        ),
        (["watch", "--since", "garbage"], 65, "photoctl: 'garbage' is no token\n"),
        (
          ["query", "--where", "title == '東京' x", "--favorite"], 65,
          "photoctl: expected AND, OR, or the end, found 'x'\n    title == '東京' x\n                    ^\n"
        ),
        (
          ["query", "--fields", "camera.modle"], 64,
          "photoctl: --fields has 'camera.modle', which is no field. Did you mean 'camera.model'?"
        ),
      ]
      for (arguments, status, errors) in cases {
        let result = try await photoctl(fixture, arguments)
        #expect(result.status == status && result.errors.hasPrefix(errors), "\(arguments): \(result.errors)")
      }
    }
  }

  /// Without this check, the socket would get the descriptor of the closed output, and photoctl would write its text to
  /// the socket.
  @Test func closedOutputIsReported() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let errors = fixture.directory + "/errors"
      let process = TestProcess()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = [
        "-c", "exec \"$0\" --socket \"$1\" query >&- 2>\"$2\"", BuiltPrograms.path("photoctl"), fixture.socket,
        errors,
      ]
      try process.run()
      await process.waitUntilExit()
      #expect(process.terminationStatus == 74)
      let text = try String(contentsOfFile: errors, encoding: .utf8)
      #expect(text.hasPrefix("photoctl: the output can't be written: Bad file descriptor\n"), "\(text)")
    }
  }

  @Test func shorthandsSelectPhotos() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("nikon.jpg")
      let dated = SourceTree.tests.appendingPathComponent("Fixtures/made/IMG_0001.jpg")
      try Data(contentsOf: dated).write(to: URL(fileURLWithPath: fixture.path("dated.jpg")))
      try await fixture.start()
      try await fixture.synchronize()
      try #require(mkdir(fixture.path("empty"), 0o700) == 0)
      let (all, nikon, taken, none) = ("dated.jpg\r\nnikon.jpg\r\n", "nikon.jpg\r\n", "dated.jpg\r\n", "")
      let cases: [([String], String)] = [
        (["--camera", "d90"], nikon), (["--camera", "nikon D90"], nikon), (["--camera", "nikon d91"], none),
        (["--camera", "nope", "--camera", "nikon"], nikon), (["--camera", "it's \\ \"x\""], none),
        (["--taken", "2022-02-16"], taken), (["--taken", "2022-02"], taken), (["--taken", "2022"], taken),
        (["--taken", "2022-02-15..2022-02-16"], taken), (["--taken", "..2022-02", "--no-favorite"], taken),
        // nikon.jpg has no date in its metadata. So it has the modification time of its file, which is today.
        (["--taken", "2022-02-17.."], nikon), (["--favorite"], none), (["--no-favorite"], all),
        (["--rating", "1", "--keyword", "it's"], none),
        (["--where", "id == 0 OR id != 0", "--camera", "nikon"], nikon),
        (["nikon"], nikon), (["dated", "nikon"], none), (["--taken", "today"], nikon), (["--taken", "7d"], nikon),
        (["--under", fixture.photos], all), (["--under", fixture.path("empty")], none),
        (["--hidden"], none), (["--offline"], none), (["--no-offline"], all),
        (["--where", "id == 0 OR id != 0", "--favorite"], none),
      ]
      for (arguments, names) in cases {
        let result = try await photoctl(
          fixture, ["query", "--format", "csv", "--fields", "filename", "--sort", "filename"] + arguments)
        #expect(result.text == "filename\r\n\(names)", "\(arguments): \(result.text)\(result.errors)")
      }
    }
  }

  @Test func filesGetColorsOnlyOnRequest() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      try await fixture.synchronize()
      let environment = ["TERM": "xterm", "NO_COLOR": "", "CLICOLOR_FORCE": ""]
      #expect(try await photoctl(fixture, ["status"], environment: environment).text.hasPrefix("live: "))
      let always = try await photoctl(fixture, ["status", "--color", "always"], environment: environment)
      #expect(always.text.hasPrefix("\u{1B}[32mlive\u{1B}[0m: "))
      let error = try await photoctl(fixture, ["--color=always", "query", "--nope"], environment: environment)
      #expect(error.errors.hasPrefix("\u{1B}[31mphotoctl:\u{1B}[0m "))
    }
  }

  @Test func watchPrintsThePathsOfMovedAndRemovedPhotos() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      let token = try await fixture.synchronize()
      let file = fixture.directory + "/watch"
      try Data().write(to: URL(fileURLWithPath: file))
      let watch = TestProcess()
      watch.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
      watch.arguments = ["--socket", fixture.socket, "watch", "--format", "text", "--since", token]
      let standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
      watch.standardOutput = standardOutput
      try watch.run()
      defer { watch.terminate() }
      // The watch is a separate process that gives no signal when it has printed a line, so the file is polled.
      func expect(_ line: String) async throws {
        var text = ""
        try await eventually("'\(line)' in \(text)") {
          text = try String(contentsOfFile: file, encoding: .utf8)
          return text.contains("          \(line)\n")
        }
      }
      try fixture.write("a.jpg")
      try await fixture.synchronize()
      try await expect("+ \(fixture.path("a.jpg"))")
      try fixture.move("a.jpg", "b.jpg")
      try await fixture.synchronize()
      try await expect("~ \(fixture.path("a.jpg")) → \(fixture.path("b.jpg"))")
      try #require(unlink(fixture.path("b.jpg")) == 0)
      try await fixture.synchronize()
      try await expect("- \(fixture.path("b.jpg"))")
    }
  }

  /// The folder has the name of another one that was renamed before. The watch reads the present paths first, and then the
  /// old commits.
  @Test func oldRenamesDoNotChangeThePathsThatAWatchPrints() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a/1.jpg", 1)
      try fixture.write("b/2.jpg", 2)
      try await fixture.start()
      let token = try await fixture.synchronize()
      try fixture.move("a", "old")
      try await fixture.synchronize()
      try fixture.move("b", "a")
      try await fixture.synchronize()
      let file = fixture.directory + "/watch"
      try Data().write(to: URL(fileURLWithPath: file))
      let watch = TestProcess()
      watch.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
      watch.arguments = ["--socket", fixture.socket, "watch", "--format", "text", "--since", token]
      watch.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
      try watch.run()
      defer { watch.terminate() }
      var text = ""
      try await eventually("the old renames in \(text)") {
        text = try String(contentsOfFile: file, encoding: .utf8)
        return text.contains("renamed \(fixture.path("b")) to \(fixture.path("a"))\n")
      }
      try #require(unlink(fixture.path("a/2.jpg")) == 0)
      try await fixture.synchronize()
      try await eventually("the removal in \(text)") {
        text = try String(contentsOfFile: file, encoding: .utf8)
        return text.contains("          - ")
      }
      #expect(text.contains("          - \(fixture.path("a/2.jpg"))\n"), "\(text)")
    }
  }

  @Test func watchPrintsThePathsOfPhotosThatExistedBeforeIt() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<14 { try fixture.write("trip/\(index).jpg", index) }
      try fixture.write("single.jpg", 20)
      try await fixture.start()
      try await fixture.synchronize()
      let file = fixture.directory + "/watch"
      try Data().write(to: URL(fileURLWithPath: file))
      let watch = TestProcess()
      watch.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
      watch.arguments = ["--socket", fixture.socket, "watch", "--format", "text"]
      watch.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
      try watch.run()
      defer { watch.terminate() }
      // A watch prints only changes that come after its begin. A favorite is changed until the watch prints one.
      let id = try #require(try await fixture.ids().ids.first)
      var round = 0
      var text = ""
      try await eventually("the watch has begun") {
        round += 1
        try await fixture.setFavorite([id], round % 2 == 1)
        text = try String(contentsOfFile: file, encoding: .utf8)
        return !text.isEmpty
      }
      try #require(unlink(fixture.path("single.jpg")) == 0)
      try await fixture.synchronize()
      // One event removes the whole folder, so the watch prints one line for all of its photos.
      try #require(rename(fixture.path("trip"), fixture.directory + "/away") == 0)
      try await fixture.synchronize()
      try await eventually("the removals in \(text)") {
        text = try String(contentsOfFile: file, encoding: .utf8)
        return text.contains("          - \(fixture.path("single.jpg"))\n")
          && text.contains(" in \(fixture.path("trip"))\n")
      }
      // The watch has no other connection than that of its stream.
      let clients = try await photoctl(fixture, ["clients", "--format", "jsonl"]).text
      #expect(clients.components(separatedBy: "\"pid\":\(watch.processIdentifier)").count == 2, "\(clients)")
    }
  }

  @Test func watchOfAQueryPrintsThePathsOfPhotosThatLeaveTheList() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let id = try #require(try await fixture.ids().ids.first)
      try await fixture.setFavorite([id], true)
      let token = try await fixture.status().token
      let (ids, file) = (fixture.directory + "/ids", fixture.directory + "/watch")
      try Data("\(id)\n".utf8).write(to: URL(fileURLWithPath: ids))
      try Data().write(to: URL(fileURLWithPath: file))
      let watch = TestProcess()
      watch.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
      watch.arguments = [
        "--socket", fixture.socket, "watch", "--favorite", "--format", "text", "--since", token, "--since-ids", ids,
      ]
      watch.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
      try watch.run()
      defer { watch.terminate() }
      try await fixture.setFavorite([id], false)
      var text = ""
      try await eventually("the removal in \(text)") {
        text = try String(contentsOfFile: file, encoding: .utf8)
        return text.contains("          - \(fixture.path("a.jpg"))\n")
      }
    }
  }

  // MARK: Completions in real shells

  private static func isInstalled(_ program: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
    }
  }

  /// `photoctl backup --list` shows the same minute.
  @Test func completionShowsLocalTimesOfBackups() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      try await fixture.synchronize()
      _ = try await photoctl(fixture, ["backup"])
      try fixture.linkSocket()
      var minutes: [Substring] = []
      for zone in ["<+14>-14", "<-12>12"] {
        let environment = fixture.runtimeEnvironment.merging(["TZ": zone]) { $1 }
        var minute: Substring = ""
        // A completion gives up after a second, which may be too short while other tests run.
        try await eventually("a completion in \(zone)") {
          let process = TestProcess()
          process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
          process.arguments = ["---complete", "zsh", "photoctl", "restore", "photod-"]
          process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
          let pipe = Pipe()
          process.standardOutput = pipe
          try process.run()
          let answer = String(decoding: try await pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
          await process.waitUntilExit()
          minute = answer.split(separator: "\n").last?.split(separator: "\t").last?.prefix(16) ?? ""
          return !minute.isEmpty
        }
        let list = ["backup", "--list", "--format", "table"]
        let table = try await photoctl(fixture, list, environment: environment).text
        // The table has no date if it is today's.
        #expect(table.contains(minute.suffix(5)), "\(minute) in \(zone): \(table)")
        minutes.append(minute)
      }
      #expect(Set(minutes).count == 2, "\(minutes)")
    }
  }

  @Test(.enabled(if: isInstalled("bash") && isInstalled("python3"), "bash or python3 is not installed"))
  func tabInBash() async throws { try await pressTab("bash") }

  @Test(.enabled(if: isInstalled("zsh") && isInstalled("python3"), "zsh or python3 is not installed"))
  func tabInZsh() async throws { try await pressTab("zsh") }

  @Test(.enabled(if: isInstalled("fish") && isInstalled("python3"), "fish or python3 is not installed"))
  func tabInFish() async throws { try await pressTab("fish") }

  /// Presses Tab after several command lines in a shell, and compares the completed words. The name of one folder
  /// contains characters that have a meaning in a shell.
  private func pressTab(_ shell: String) async throws {
    try await DaemonFixture.with { fixture in
      let title = "Sea: \"it's\" $(touch pwned) `x`!"
      try fixture.write(title + "/1.jpg")
      try fixture.write("東京/2.jpg", 2)
      // Two folders begin with the name of the library. A shell that completes each component of a path meets both.
      let sibling = fixture.photos + ".lock"
      try FileManager.default.createDirectory(atPath: sibling, withIntermediateDirectories: false)
      try await fixture.start()
      try await fixture.synchronize()
      let made = try await photoctl(fixture, ["backup"]).text
      let backup = try #require(made.split(separator: "\n").first?.split(separator: "/").last.map(String.init))
      let start = ["photoctl", "--socket", fixture.socket]
      let line = start.joined(separator: " ")
      let cases: [(String, [String])] = [
        ("photoctl que", ["photoctl", "query"]), ("\(line) query --album Se", start + ["query", "--album", title]),
        ("\(line) query --album=Se", start + ["query", "--album=" + title]),
        ("\(line) query --album 'Se", start + ["query", "--album", title]),
        ("\(line) query --album \"Se", start + ["query", "--album", title]),
        ("\(line) watch --album 東", start + ["watch", "--album", "東京"]),
        (
          "\(line) query --album folder:\(fixture.photos)/Se",
          start + ["query", "--album", "folder:\(fixture.photos)/\(title)"]
        ),
        ("photoctl query --fields id,camera.mod", ["photoctl", "query", "--fields", "id,camera.model"]),
        ("\(line) stats --camera 'NIKON D", start + ["stats", "--camera", "NIKON D90"]),
        ("\(line) stats --by le", start + ["stats", "--by", "lens"]),
        // The daily backup of photod has no time in its name.
        ("\(line) restore \(backup.prefix(18))", start + ["restore", backup]),
        ("photoctl query --sort dur", ["photoctl", "query", "--sort", "durationSeconds"]),
        ("photoctl show \(fixture.photos)/東", ["photoctl", "show", "\(fixture.photos)/東京/"]),
      ]
      let script = SourceTree.tests.appendingPathComponent("Scripts/press-tab").path
      // zsh leaves the quote of a predicate open, because more may follow. The others close it.
      func closing(_ quote: String) -> String { shell == "zsh" ? quote : "" }
      let predicates: [(String, rest: String, String)] = [
        ("'camera.model == \"NI", closing("'"), "camera.model == \"NIKON D90\""),
        ("\"camera.model == 'NI", closing("\""), "camera.model == 'NIKON D90'"),
        ("'isFavorite == tr", closing("'"), "isFavorite == true"),
        ("'title CONT", closing("'"), "title CONTAINS "),
        // Several operators follow the key, so the quote stays open in each shell.
        ("'rating > 3 AND camera.mod", "== 1'", "rating > 3 AND camera.model == 1"),
        ("camera.mod", "==", "camera.model =="),
      ]
      let all =
        cases.map { (line: $0.0, rest: "", words: $0.1) }
        + predicates.map {
          (line: "\(line) query --where \($0.0)", rest: $0.rest, words: start + ["query", "--where", $0.2])
        }
      for (line, rest, words) in all {
        let result = try await PythonClient.run(
          [script, shell, BuiltPrograms.path("photoctl"), line, rest], path: "")
        let completed = try JSONDecoder().decode([String].self, from: Data(result.output.utf8))
        // Some shells show a folder's slash only when more text follows.
        let expected = words.map { $0.hasSuffix("/") && !completed.contains($0) ? String($0.dropLast()) : $0 }
        #expect(completed == expected, "\(shell): \(line)")
      }
    }
  }
}
