import ArgumentParser
import PhotoModel
import TestTools
import Testing

@testable import photoctl

struct ArgumentTests {
  private func absolute(_ argument: String) -> String { AbsolutePath.text(argument, in: Array("/home/a".utf8)) }

  @Test func pathsBecomeAbsolute() {
    #expect(absolute("b.jpg") == "/home/a/b.jpg")
    #expect(absolute("./b.jpg") == "/home/a/b.jpg")
    #expect(absolute("../c//d/") == "/home/c/d")
    #expect(absolute("/x/../..") == "/")
    #expect(absolute(".") == "/home/a")
    #expect(absolute("file:///p/%FF.jpg") == "file:///p/%FF.jpg")
  }

  @Test func bytesThatAreNotUTF8BecomeTheURIOfAPath() {
    #expect(CommandLineBytes.text([0x61, 0xFF], in: Array("/h".utf8)) == "file:///h/a%FF")
    #expect(CommandLineBytes.text(Array("ü".utf8), in: Array("/h".utf8)) == "ü")
  }

  @Test func aNumberIsAnIDAndAnythingElseAPath() {
    #expect(AssetArgument(argument: "123") == .id(123))
    #expect(AssetArgument(argument: "./123") == .path("./123"))
    #expect(AssetArgument(argument: "123.jpg") == .path("123.jpg"))
    #expect(AssetArgument(argument: "99999999999999999999") == .path("99999999999999999999"))
    #expect(AssetArgument(argument: "") == nil)
  }

  @Test func sortKeysHaveADirection() {
    #expect(SortArgument(argument: "rating")?.descriptor == SortDescriptor(key: "rating", ascending: true))
    #expect(SortArgument(argument: "rating:asc")?.descriptor == SortDescriptor(key: "rating", ascending: true))
    #expect(SortArgument(argument: "rating:desc")?.descriptor == SortDescriptor(key: "rating", ascending: false))
    #expect(SortArgument(argument: "rating:down") == nil)
    #expect(SortArgument(argument: ":desc") == nil)
  }

  @Test func optionsOfAQueryAreThoseOfTheContract() throws {
    let command = try parsed([
      "query", "--album", "Sea", "--type", "image", "--type", "video", "--where", "rating >= 4", "--sort", "title",
      "--sort", "id:desc", "--limit", "5",
    ])
    let query = try #require(command as? QueryCommand)
    let sort = [SortDescriptor(key: "title", ascending: true), SortDescriptor(key: "id", ascending: false)]
    #expect(
      try query.query.fetchOptions()
        == FetchOptions(
          collection: "Sea", mediaTypes: ["image", "video"], predicate: "rating >= 4", sortDescriptors: sort,
          fetchLimit: 5))
    let all = try #require(try parsed(["query"]) as? QueryCommand)
    #expect(all.query.isEmpty)
    #expect(try all.query.fetchOptions() == FetchOptions())
  }

  @Test(arguments: [["--socket", "/s", "status"], ["status", "--socket", "/s"]])
  func theSocketMayComeBeforeOrAfterTheCommand(arguments: [String]) throws {
    let status = try #require(try parsed(arguments) as? StatusCommand)
    #expect(status.connection.socket == "/s")
    #expect(status.connection.library.socketPath == "/s")
  }

  @Test(
    .enabled(if: TestTier.isWhole, "takes seconds"),
    arguments: [
      ["query", "--limit", "0"], ["query", "--type", "song"], ["query", "--sort", "a:b"], ["sync", "--timeout", "-1"],
      ["sync", "--timeout", "nan"], ["rescan", "--dry-run", "--confirm"],
      ["favorite"], ["show"], ["why"], ["query", "--format", "xml"], ["frobnicate"], ["query", "--limit", "-1"],
      ["query", "--rating", "6"], ["query", "--rating", "-1"], ["query", "--taken", "tomorrow"],
      ["query", "--favorite", "--no-favorite"],
      ["query", "--offline", "--no-offline"], ["query", "\"open"], ["backup", "--format", "csv"],
      ["query", "--text", ""], ["query", "--text", "sun \"sea"], ["watch", "--text", "- *"],
      ["query", "--camera", " "],
      ["query", "--where", ""], ["watch", "--where", " "], ["query", "--fields", "nope"],
      ["query", "--fields", "id,,path"],
      ["query", "--fields", "id", "--format", "paths0"], ["albums", "--fields", "camera.model"],
      ["favorite", "-0", "1"],
      ["albums", "--watch", "--containing", "1"], ["albums", "--watch", "--format", "csv"],
      ["albums", "--watch", "--fields", "id"], ["status", "--color", "red"], ["status", "--timeout", "3"],
      ["status", "--wait", "--timeout", "-1"], ["query", "--json", "--format", "csv"],
      ["watch", "--json", "--format", "text"], ["watch", "--paths", "--format", "text"],
      ["watch", "--paths", "--favorite"],
      ["watch", "--paths", "--exec", "true"], ["albums", "smart"], ["albums", "smart", "S", "--album", "Rome"],
      ["albums", "smart", "S", "--hidden"], ["albums", "smart", "S", "--taken", "today"],
      ["albums", "smart", "S", "--taken", "2024..7d"], ["albums", "smart", "S", "sea", "--edit", "--in", "Trips"],
      ["albums", "smart", "S", "--where", "id > 1", "--limit", "0"], ["query", "--keyword", " "],
      ["edit", "1", "--keyword", "-"], ["edit", "1", "--keyword", " "],
      ["edit", "1", "--keyword=-a", "--keyword", "a"],
      ["edit", "1", "--clear", "title", "--title", "x"], ["edit", "1", "--clear", "creationDate", "--shift", "1h"],
      ["edit", "1", "--shift", "5"],
    ])
  func aWrongCommandLineEndsWith64(arguments: [String]) {
    do {
      let command = try parsed(arguments)
      Issue.record("\(arguments) was taken as \(type(of: command))")
    } catch {
      #expect(Photoctl.exitCode(for: error).rawValue == CommandStatus.usage.rawValue)
    }
  }

  @Test func everyCommandThatPrintsTakesJSON() throws {
    let withoutOutput: Set = ["completions", "debug", "help", "albums"]
    let commands = try #require(try CommandDescription(dump: Photoctl._dumpHelp()).subcommands)
    #expect(commands.count == Photoctl.configuration.subcommands.count + 1, "the parser adds help")
    for command in commands + commands.flatMap({ $0.subcommands ?? [] }) {
      guard !withoutOutput.contains(command.commandName) else { continue }
      let flag = command.arguments?.first { $0.isCalled("--json") }
      #expect(flag?.kind == .flag && flag?.shouldDisplay == true, "photoctl \(command.commandName)")
    }
  }

  @Test func aJSONFlagIsTheFormat() throws {
    #expect(try #require(try parsed(["query", "--json"]) as? QueryCommand).formats.chosen == .json)
    #expect(try #require(try parsed(["query", "--format", "csv"]) as? QueryCommand).formats.chosen == .csv)
    #expect(try #require(try parsed(["albums"]) as? AlbumsListCommand).formats.chosen == nil)
    #expect(try #require(try parsed(["watch", "--json"]) as? WatchCommand).formats.chosen == .jsonl)
    #expect(try #require(try parsed(["clients", "--json"]) as? ClientsCommand).formats.chosen == .json)
  }

  @Test(arguments: [["backup"], ["backup", "--list"], ["albums"], ["albums", "--watch"]])
  func jsonIsAcceptedAsAFormatAndAsAFlag(arguments: [String]) throws {
    for format in [["--format", "json"], ["--json"], ["--json", "--format", "json"]] {
      let command = try parsed(arguments + format)
      #expect(((command as? BackupCommand)?.formats ?? (command as? AlbumsListCommand)?.formats)?.chosen == .json)
    }
  }

  @Test func wordsAreQuotedForAShell() {
    #expect(ShellWord.quoted("a/b-1.jpg") == "a/b-1.jpg")
    #expect(ShellWord.quoted("it's me.jpg") == "'it'\\''s me.jpg'")
    #expect(ShellWord.quoted("") == "''")
  }

  private func parsed(_ arguments: [String]) throws -> any ParsableCommand { try Photoctl.parseAsRoot(arguments) }
}
