import ArgumentParser
import PhotoContract
import TestTools
import Testing

@testable import photoctl

/// A script passes an empty word if a variable is not set.
@Suite struct EmptyArgumentTests {
  /// Each option and argument with a text or a path, of all commands.
  @Test func everyEmptyValueIsRefused() throws {
    let program = try CommandDescription(dump: Photoctl._dumpHelp())
    var count = 0
    func check(_ command: CommandDescription, _ names: [String]) {
      for argument in command.arguments ?? [] where argument.kind == .option {
        let name = names.joined(separator: " ")
        for option in argument.names ?? [] {
          let isAllowed =
            (name == "edit" && ["--title", "--caption"].contains(option.text)) || option.text == "--since"
          for words in [[option.text, ""], ["\(option.text)="], [option.text, "file://"]] {
            let failure = EmptyArgument.failure(in: names + words, of: name)
            #expect((failure == nil) == isAllowed, "\(names + words)")
            if let failure { #expect(failure.problem.hasPrefix("\(option.text) is '"), "\(failure.problem)") }
            count += 1
          }
        }
      }
      #expect(EmptyArgument.failure(in: names + [""], of: names.joined(separator: " "))?.status == .usage, "\(names)")
      for next in command.subcommands ?? [] where next.commandName != "help" { check(next, names + [next.commandName]) }
    }
    check(program, [])
    #expect(count > 200)
  }

  @Test func otherValuesAreTaken() {
    for words in [
      ["hide", "--under", "x"], ["edit", "1", "--title", "", "--caption="], ["query", "--where=title == ''"],
      ["query", "file:///p/%FF"], ["albums", "create", " x"], ["query", "folder:"], ["query", "--text", "folder:"],
      ["edit", "1", "--title", "folder:"], ["edit", "1", "--keyword=folder:"],
    ] {
      #expect(EmptyArgument.failure(in: words, of: words[0]) == nil, "\(words)")
    }
    #expect(
      EmptyArgument.failure(in: ["query", "--count", ""], of: "query")?.problem.hasPrefix("an argument is ''") == true)
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func anAlbumWithoutItsNameIsRefusedAndTheSameWordIsSearched()
    throws
  {
    let missing = "the path of a folder is missing after the colon, as in folder:/home/anna/Pictures."
    for words in [["query"], ["watch"], ["stats"], ["hide"], ["albums", "create", "x"]] {
      #expect(message(words + ["--album", "folder:"]) == "--album is 'folder:'; \(missing)", "\(words)")
    }
    #expect(message(["query", "--album", "id:"]).hasPrefix("--album is 'id:'; a number is missing after the colon"))
    #expect(message(["albums", "show", "folder:"]) == "The album is 'folder:'; \(missing)")
    for words in [["query", "folder:"], ["query", "--text", "folder:"], ["query", "--album", "folder:/p"]] {
      #expect(message(words).isEmpty, "\(words)")
    }
    #expect(try FilterOptions.parse(["folder:"]).fetchOptions().text == "folder:")
  }

  private func message(_ words: [String]) -> String {
    do {
      _ = try Photoctl.parseAsRoot(words)
      return ""
    } catch { return Photoctl.message(for: error) }
  }

  @Test func aFileForTheExportIsNamedInItsRemedy() {
    let failure = UsageError.exportedFile(in: ["--socket", "/s", "export", "--json", "/tmp/my x"])
    #expect(failure?.problem == "export prints to standard output, and takes no file")
    #expect(failure?.remedy == "`photoctl export > '/tmp/my x'` writes the export to that file.")
    #expect(UsageError.exportedFile(in: ["export", "--color", "never"]) == nil)
    #expect(UsageError.exportedFile(in: ["query", "export", "x"]) == nil)
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func aTooLongTextIsNamedWithItsLimit() throws {
    func problem(_ words: String...) -> String { message(words) }
    let long = String(repeating: "ä", count: 501)
    for words in [["edit", "1", "--title", long], ["edit", "1", "--keyword", "-" + long]] {
      #expect(
        problem(words[0], words[1], words[2], words[3])
          == "\(words[2]) is too long: it has 1,002 bytes of UTF-8, and the limit is 1,000.")
    }
    for command in ["create", "mkdir", "smart"] {
      #expect(problem("albums", command, long).hasPrefix("The title is too long: it has 1,002 bytes"), "\(command)")
      #expect(problem("albums", command, " ").hasPrefix("The title is ' '; it must have"), "\(command)")
    }
    #expect(problem("albums", "rename", "Rome", long).hasPrefix("The title is too long"))
    let huge = String(repeating: "x", count: 70_000)
    #expect(problem("edit", "1", "--caption", huge).hasPrefix("--caption is too long: it has 70,000 bytes"))
    #expect(problem("query", "--where", huge).hasPrefix("--where is too long"))
    #expect(problem("hide", "--where", huge).hasPrefix("--where is too long"))
    let words = String(repeating: "𝒜", count: 900)
    #expect(
      problem("query", words, "--text", words).hasPrefix("The text to search for is too long: it has 7,201 bytes"))
    #expect(problem("query", "--sort", long).hasPrefix("--sort is too long"))
    #expect(problem("undo", "--origin", long).hasPrefix("--origin is too long"))
    #expect(problem("edit", "1", "--title", String(repeating: "ä", count: 500)).isEmpty)
  }

  @Test func keywordsOfManyOptionsTogetherMayBeTooLong() throws {
    let words = (0..<100).flatMap { _ in ["--keyword", String(repeating: "x", count: 900)] }
    let filter = try FilterOptions.parse(words)
    let failure = #expect(throws: Failure.self) { try filter.fetchOptions() }
    #expect(failure?.status == .usage && failure?.problem.contains("the limit is 65,536") == true)
  }

  @Test func anUnknownOptionIsNamedBeforeWhatIsMissing() throws {
    let program = try CommandDescription(dump: Photoctl._dumpHelp())
    let minus = try #require(UnknownOption.failure(in: ["favorite", "-1"], of: program))
    #expect(minus.problem == "there is no option '-1'" && minus.remedy.hasPrefix("An id has no minus."))
    let file = try #require(UnknownOption.failure(in: ["favorite", "--zzzz"], of: program))
    #expect(file.remedy == "For a file with this name, write ./--zzzz.")
    #expect(UnknownOption.failure(in: ["query", "-limt"], of: program)?.remedy == "Did you mean '--limit'?")
    // These commands take no files.
    for command in ["query", "watch", "status", "stats", "undo"] {
      for option in ["--zzzz", "-1"] {
        let failure = try #require(UnknownOption.failure(in: [command, option], of: program))
        #expect(failure.remedy.hasPrefix("The options are --"), "\(failure.remedy)")
      }
    }
    // The options of a group are also those of its default command.
    let group = try #require(UnknownOption.failure(in: ["albums", "--zzzz"], of: program))
    #expect(group.remedy == UnknownOption.failure(in: ["albums", "list", "--zzzz"], of: program)?.remedy)
    #expect(UnknownOption.failure(in: ["hide", "--undr", "x"], of: program)?.remedy == "Did you mean '--under'?")
    #expect(
      UnknownOption.failure(in: ["--socket", "-1", "albums", "add", "--nope=1"], of: program)?.command == "albums add")
    for words in [
      ["favorite"], ["favorite", "-0", "-"], ["query", "--near", "-1,2,3"], ["favorite", "--", "-1"],
      ["albums", "--json"],
      ["edit", "-n", "--shift=-1h"],
    ] {
      #expect(UnknownOption.failure(in: words, of: program) == nil, "\(words)")
    }
  }
}
