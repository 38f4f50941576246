import ArgumentParser

/// The options of `watch --exec`.
struct ExecOptions: ParsableArguments {
  @Option(
    name: .customLong("exec"), parsing: .unconditional,
    help: ArgumentHelp("Run this command of the shell after each commit.", valueName: "command"))
  var command: String?

  @Flag(help: "With --exec: run the command for each photo instead.")
  var each = false

  @Flag(help: "With --exec: if the command fails, run it again until it succeeds.")
  var retry = false

  @Option(
    help: ArgumentHelp(
      "With --exec: the file that keeps the token (default: a file in $XDG_STATE_HOME/photoctl).", valueName: "file"),
    completion: .file())
  var state: String?

  func validate() throws {
    if let command {
      if command.allSatisfy(\.isWhitespace) { throw ValidationError("--exec is '\(command)'; it must be a command.") }
      if state?.isEmpty == true { throw ValidationError("--state is ''; it must be a file.") }
      return
    }
    for (option, isGiven) in [("--each", each), ("--retry", retry), ("--state", state != nil)] where isGiven {
      throw ValidationError("\(option) is for a command. Give the command with --exec.")
    }
  }
}
