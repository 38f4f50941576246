import ArgumentParser
import PhotoClient

struct ClientsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clients",
    abstract: "Lists who is connected to photod, and what they watch.",
    discussion: """
      A line for each connection: the process, since when, how many calls it made, whether what it watches is behind \
      (photod has something newer for it; bytes that are unsent wait for the program to read), and what that is. \
      One of them is photoctl itself. With --format jsonl a line is a Client of org.photod.manage.

      EXAMPLES
        photoctl clients
        photoctl clients --format jsonl | jq 'select(.streams[].behind)'
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(help: "How to print them: table or jsonl (default: table on a terminal, else jsonl).")
  var format: ClientsFormat?

  func run() async throws {
    let clients = try await connection.library.clients()
    switch format ?? (Output.isTerminal ? .table : .jsonl) {
    case .table: try Output.put(ClientText.table(clients, terminalColumns: Output.terminalColumns))
    case .jsonl: for client in clients { try Output.put(try JSONText.line(client) + [UInt8(ascii: "\n")]) }
    }
  }
}

enum ClientsFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case table, jsonl
}
