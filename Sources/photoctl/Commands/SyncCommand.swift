import ArgumentParser
import PhotoClient

struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Waits until everything that happened in your folders is in the library.",
    discussion: """
      Everything before this call, that is. It prints the library's token, to go on from with 'photoctl watch --since'. \
      In time it ends with 75.

      EXAMPLES
        cp *.jpg ~/Pictures && photoctl sync && photoctl query --count
        photoctl sync --timeout 300
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How long to wait at most (default: 30).", valueName: "seconds"))
  var timeout: Double?

  func validate() throws {
    if let timeout, !(0...86_400).contains(timeout) {
      throw ValidationError("--timeout is \(Text.rounded(timeout)), outside 0...86400 seconds.")
    }
  }

  func run() async throws {
    try Output.put("\(try await connection.library.caughtUp(within: timeout))\n")
  }
}

extension PhotoLibrary {
  /// Waits until the library knows everything that happened in its folders before this call. Returns its token.
  ///
  /// - Parameter seconds: nil for the daemon's default of 30.
  /// - Throws: ``Failure`` with the advice to try again, if the time is over.
  func caughtUp(within seconds: Double? = nil) async throws -> String {
    do {
      return try await synchronize(timeout: seconds.map { .seconds($0) })
    } catch PhotoLibraryError.timedOut {
      throw Failure(
        .tryAgain, "the library did not catch up with your folders within \(Text.rounded(seconds ?? 30)) s",
        remedy: "'photoctl status' shows what it is doing; 'photoctl sync --timeout' waits longer.")
    }
  }
}
