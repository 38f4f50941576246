import ArgumentParser
import PhotoClient

struct ClientsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clients",
    abstract: "Lists the programs that are connected to photod, and their streams.",
    discussion: """
      Each line is a connection. It has the process, the time when the connection began, the number of calls, how far \
      the streams are behind, and the streams. One of the connections is that of photoctl itself. With --format jsonl, \
      a line is a Client of org.photod.manage. --format json prints the whole reply. If the reply has no room for all \
      `clients`, `omitted` is the number of the others. The other formats report this number on standard error.

      BEHIND is 'no' if the program has received all changes, and has read them. '3 commits' are changes that photod \
      has not processed for this program yet, which takes milliseconds. '120 commits, 31 kB unread' means that the \
      program does not read. Its unread messages take 31 kB of memory, including the kernel's buffer of the socket. \
      This delays no other program. When the program reads again, it gets one difference of its list.

      EXAMPLES
        photoctl clients
        photoctl clients --format jsonl | jq 'select(.streams[].behind)'
        photoctl clients --format json | jq '(.clients | length) + (.omitted // 0)'
      """)

  @OptionGroup var connection: ConnectionOptions

  @OptionGroup var formats: FormatOptions<ClientsFormat>

  func run() async throws {
    let list = try await PhotoDaemonManagement(of: connection.library).clients()
    let clients = list.clients
    let format = formats.chosen ?? (Output.isTerminal ? .table : .jsonl)
    switch format {
    case .table: try Output.put(ClientText.table(clients, terminalColumns: Output.terminalColumns))
    case .json: try Output.put(JSONText.indented(list))
    case .jsonl: for client in clients { try Output.put(try JSONText.line(client) + [UInt8(ascii: "\n")]) }
    }
    if let omitted = list.omitted, format != .json {
      Output.complain(
        "photoctl: \(omitted) more connections are not listed, because a reply of photod has no room for them.\n")
    }
  }
}

enum ClientsFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case table, json, jsonl
}

extension ClientsFormat: PrintedFormat {
  static var help: ArgumentHelp { "The output format (default: table on a terminal, else jsonl)." }
}
