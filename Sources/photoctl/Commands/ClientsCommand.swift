import ArgumentParser
import PhotoClient

struct ClientsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clients",
    abstract: "Lists who is connected to photod, and what they watch.",
    discussion: """
      A line for each connection: the process, since when, how many calls it made, how far what it watches is behind, \
      and what that is. One of them is photoctl itself. With --format jsonl a line is a Client of org.photod.manage.

      BEHIND is 'no' where the program was sent all that concerns it, and has read it. '3 commits' are changes that photod \
      has yet to look at for it, which is a matter of milliseconds. '120 commits, 31 kB unread': the program does not \
      read; so much memory waits for it, the kernel's own for a socket with it. That costs nobody anything: of a list it gets one difference when it does.

      EXAMPLES
        photoctl clients
        photoctl clients --format jsonl | jq 'select(.streams[].behind)'
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(help: "How to print them: table or jsonl (default: table on a terminal, else jsonl).")
  var format: ClientsFormat?

  func run() async throws {
    let clients = try await PhotoDaemonManagement(of: connection.library).clients()
    switch format ?? (Output.isTerminal ? .table : .jsonl) {
    case .table: try Output.put(ClientText.table(clients, terminalColumns: Output.terminalColumns))
    case .jsonl: for client in clients { try Output.put(try JSONText.line(client) + [UInt8(ascii: "\n")]) }
    }
  }
}

enum ClientsFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case table, jsonl
}
