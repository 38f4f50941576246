import ArgumentParser
import PhotoClient
import PhotoModel

struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Waits until the library has all changes of your folders.",
    discussion: """
      It waits for the changes that were made before the call. It prints the library's token, from which `photoctl \
      watch --since` continues. If the time is over, it exits with 75.

      EXAMPLES
        cp *.jpg ~/Pictures && photoctl sync && photoctl query --count
        photoctl sync --timeout 300
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The time limit (default: 30).", valueName: "seconds"),
    transform: { try NumberArgument.real($0, "a number of seconds from 0 to 86,400") })
  var timeout: Double?

  @OptionGroup var json: JSONOption

  func validate() throws {
    if let timeout, !(0...86_400).contains(timeout) {
      throw ValidationError("--timeout is \(roundedText(timeout)); it must be 0 to 86,400 seconds.")
    }
  }

  func run() async throws {
    struct Place: Encodable { let token: String }
    let token = try await connection.library.caughtUp(within: timeout)
    try Output.put(json.isOn ? JSONText.indented(Place(token: token)) : Array("\(token)\n".utf8))
  }
}

extension PhotoLibrary {
  /// Waits until the library knows everything that happened in its folders before this call. Returns its token.
  ///
  /// - Parameter seconds: nil for the daemon's default of 30.
  func caughtUp(within seconds: Double? = nil) async throws -> String {
    try await synchronize(timeout: seconds.map { .seconds($0) })
  }
}
