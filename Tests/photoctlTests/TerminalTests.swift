import Testing

@testable import photoctl

struct TerminalTests {
  @Test(arguments: [
    ("abc", 3), ("", 0), ("é", 1), ("e\u{301}", 1), ("東京", 4), ("한글", 4), ("ｆ", 2), ("👍", 2), ("👍🏽", 2), ("👩‍👩‍👧", 2),
    ("🇩🇪", 2), ("❤️", 2), ("❤", 1), ("♥", 1), ("→…×", 3), ("\u{200B}", 0), ("１２", 4), ("क्षि", 1), ("𠀀", 2),
  ])
  func textHasItsWidthInColumns(text: String, columns: Int) {
    #expect(TextWidth.columns(of: text) == columns)
  }

  @Test func noCharacterIsCutInHalf() {
    #expect(TextWidth.shortened("東京タワー", to: 7) == "東京タ…")
    #expect(TextWidth.shortened("東京タワー", to: 6) == "東京…")
    #expect(TextWidth.shortened("東京", to: 4) == "東京")
    #expect(TextWidth.shortenedAtStart("/a/東京.jpg", to: 7) == "…京.jpg".dropFirst(0))
    #expect(TextWidth.shortenedAtStart("/a/東京.jpg", to: 6) == "….jpg")
    #expect(TextWidth.shortened("abc", to: 0) == "")
    #expect(TextWidth.shortened("abc", to: 1) == "…")
    #expect(TextWidth.padded("東", to: 4) == "東  ")
    #expect(TextWidth.padded("東", to: 4, atStart: true) == "  東")
  }

  @Test(arguments: [
    (ColorChoice.auto, true, ["TERM": "xterm"], true), (.auto, false, ["TERM": "xterm"], false),
    (.auto, true, ["TERM": "dumb"], false), (.auto, true, [:], false),
    (.auto, true, ["TERM": "xterm", "NO_COLOR": "1"], false), (.auto, true, ["TERM": "xterm", "NO_COLOR": ""], true),
    (.auto, false, ["CLICOLOR_FORCE": "1"], true), (.auto, false, ["CLICOLOR_FORCE": "0"], false),
    (.auto, true, ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], false), (.always, false, ["NO_COLOR": "1"], true),
    (.never, true, ["TERM": "xterm", "CLICOLOR_FORCE": "1"], false),
  ])
  func coloursAreUsedOnlyOnTerminalsThatWantThem(
    choice: ColorChoice, isTerminal: Bool, environment: [String: String], isColored: Bool
  ) {
    #expect(Style(choice, isTerminal: isTerminal, environment: { environment[$0] }).isColored == isColored)
  }

  @Test func colourIsDeterminedBeforeTheCommandLineIsParsed() {
    #expect(UsageError.color(of: ["query", "--color=never"]) == .never)
    #expect(UsageError.color(of: ["--color", "always", "--nope"]) == .always)
    #expect(UsageError.color(of: ["--color"]) == .auto)
    #expect(UsageError.color(of: ["--color", "pink"]) == .auto)
  }

  @Test func anUnknownCommandIsNamed() {
    #expect(
      UsageError.unknownCommand(in: ["help", "nope"])?.problem == "there is no command 'nope'")
    #expect(UsageError.unknownCommand(in: ["qurey"])?.remedy == "Did you mean 'query'?")
    #expect(
      UsageError.unknownCommand(in: ["--socket", "x", "--color=never", "favourite"])?.remedy
        == "Did you mean 'favorite'?")
    for arguments in [
      [], ["help"], ["help", "query"], ["query", "nope"], ["--help"], ["--version"], ["--socket", "x"],
    ] {
      #expect(UsageError.unknownCommand(in: arguments) == nil, "\(arguments)")
    }
  }

  @Test func anUnknownSubcommandIsNamed() {
    let failure = UsageError.unknownCommand(in: ["debug", "nope"])
    #expect(failure?.remedy == "The commands are events, extract." && failure?.command == "debug")
    #expect(UsageError.unknownCommand(in: ["help", "debug", "event"])?.remedy == "Did you mean 'events'?")
    #expect(UsageError.unknownCommand(in: ["debug", "events", "--follow"]) == nil)
    #expect(UsageError.unknownCommand(in: ["debug"]) == nil)
  }

  @Test func suggestionsResembleTheTypedWord() {
    #expect(
      UsageError.text("Error: Unknown option '--wat'. Did you mean '--sort'?\nUsage: u\n", style: .plain)
        == "photoctl: Unknown option '--wat'\nUsage: u\n")
    #expect(
      UsageError.text("Error: Unknown option '--nope'. Did you mean '--type'?", style: .plain)
        == "photoctl: Unknown option '--nope'\n")
    #expect(
      UsageError.text("Error: Unknown option '--limt'. Did you mean '--limit'?", style: .plain)
        == "photoctl: Unknown option '--limt'. Did you mean '--limit'?\n")
  }

  @Test func exclusiveFlagsAreNamed() {
    func text(_ words: [String]) -> String? {
      do {
        _ = try Photoctl.parseAsRoot(words)
        return nil
      } catch {
        let text = UsageError.text(Photoctl.fullMessage(for: error), style: .plain)
        return text.split(separator: "\n").first.map(String.init)
      }
    }
    #expect(
      text(["query", "--favorite", "--no-favorite"]) == "photoctl: Give only one of --favorite and --no-favorite.")
    #expect(text(["query", "--no-offline", "--offline"]) == "photoctl: Give only one of --no-offline and --offline.")
  }

  @Test(arguments: [
    (["query", "--limit", "x"], "'x' is invalid for '--limit <n>': it must be a number, 1 or more"),
    (["query", "--rating", "x"], "it must be a number from 1 to 5"),
    (["stats", "--limit", "1.5"], "it must be a number, 1 or more"),
    (["edit", "1", "--rating", "x"], "it must be a number from 0 to 5"),
    (["undo", "abc"], "it must be the number of a change, as `photoctl undo --list` prints it"),
    (["thumbnail", "1", "--size", "big"], "it must be a number of pixels from 1 to 16384"),
    (["thumbnail", "1", "--at", "0:02"], "it must be a number of seconds, such as 2.5"),
    (["sync", "--timeout", "1m"], "it must be a number of seconds from 0 to 86,400"),
    (["status", "--wait", "--timeout", "1m"], "it must be a number of seconds from 0 to 86,400"),
    (["edit", "1", "--date", "2024-02-30"], "--date is '2024-02-30'; there is no day 2024-02-30."),
    (["edit", "1", "--date", "2024-13-01T10:00"], "there is no month 13."),
    (["edit", "1", "--date", "2024-12-01T25:00"], "it must be a date such as"),
    (["edit", "1", "--location", "100,1"], "the latitude 100 is not between -90 and 90"),
    (["edit", "1", "--location", "90.00000001,1"], "the latitude 90.00000001 is not between -90 and 90"),
    (["edit", "1", "--location", "1,-181"], "the longitude -181 is not between -180 and 180"),
  ])
  func aWrongValueIsAnsweredWithTheExpectedOne(words: [String], message: String) {
    do {
      _ = try Photoctl.parseAsRoot(words)
      Issue.record("\(words) was accepted")
    } catch {
      #expect(Photoctl.message(for: error).contains(message), "\(Photoctl.message(for: error))")
    }
  }

  @Test func parserErrorsReferToTheHelpAsOtherErrorsDo() {
    #expect(
      UsageError.text("Error: x\n  See 'photoctl albums add --help' for more information.\n", style: .plain)
        == "photoctl: x\n  See `photoctl help albums add`.\n")
    #expect(
      UsageError.text("Error: x\n  See 'photoctl --help' for more information.", style: .plain)
        == "photoctl: x\n  See `photoctl help`.\n")
  }
}
