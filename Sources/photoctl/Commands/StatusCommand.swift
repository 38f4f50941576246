import ArgumentParser
import PhotoClient
import PhotoModel

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Says how photod and the library are.",
    discussion: """
      The state is one of: opening; scanning (what was found so far is there); live (everything that happened is in, or \
      will be at once); recovering (events were lost, a scan finds out which); degraded (the warnings say why). \
      Pending is work that was seen and is not in the library yet; unreadable are files whose content can't be read.

      EXAMPLES
        photoctl status
        photoctl status --wait && photoctl query      after the first scan
        photoctl status --json | jq .pendingCount
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Print the status as one JSON object.")
  var json = false

  @Flag(help: "Wait until the library is live and nothing is pending. On a terminal a bar shows how far it is.")
  var wait = false

  func run() async throws {
    let library = connection.library
    let status = wait ? try await settled(library) : try await library.status()
    try Output.put(json ? JSONText.indented(status) : Array(StatusText.text(status, style: connection.style).utf8))
  }

  /// The first status in which everything is done.
  private func settled(_ library: PhotoLibrary) async throws -> LibraryStatus {
    var bar = ProgressBar()
    defer { bar.clear() }
    for try await status in library.statusUpdates() {
      if status.state == .live && status.pendingCount == 0 { return status }
      if status.state == .degraded {
        bar.clear()
        Output.complain(StatusText.warnings(status))
        throw Failure(
          .unavailable, "the library is degraded and won't get live by waiting", remedy: "Mend what is said above.")
      }
      bar.show(status)
    }
    throw PhotoLibraryError.connectionClosed
  }
}
