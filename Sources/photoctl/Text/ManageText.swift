import PhotoClient
import PhotoModel

/// Formats connections for a person.
enum ClientText {
  private static let columns = [
    Column(title: "PID", isNumber: true, minimumWidth: 6), Column(title: "PROGRAM"), Column(title: "SINCE"),
    Column(title: "CALLS", isNumber: true), Column(title: "BEHIND"), Column(title: "STREAMS"),
  ]

  static func table(
    _ clients: [ConnectedClient], terminalColumns: Int?, now: PhotoDate = WatchText.now
  ) -> String {
    var table = TableLayout(columns: columns, terminalColumns: terminalColumns)
    return table.text(rows: clients.map { cells($0, now: now).map(Printable.text) })
  }

  private static func cells(_ client: ConnectedClient, now: PhotoDate) -> [String] {
    [
      String(client.pid), name(client), WatchText.clock(client.since, now: now),
      Text.grouped(client.callCount), client.streams.map(behind).joined(separator: ", "),
      client.streams.isEmpty ? "-" : client.streams.map(stream).joined(separator: ", "),
    ]
  }

  /// `python3.11 (slideshow)`, `photoctl (this)`
  private static func name(_ client: ConnectedClient) -> String {
    let program = client.program ?? client.command ?? "?"
    let remark = client.isSelf ? "this" : client.clientName.flatMap { $0 == program ? nil : $0 }
    return program + (remark.map { " (\($0))" } ?? "")
  }

  /// `no`. `3 commits`: photod still works on them. `120 commits, 31 kB unread`: the program does not read. `no, 2
  /// kB unread`: it does not read, but nothing new has come.
  private static func behind(_ stream: ConnectedClient.Stream) -> String {
    let bytes = Int64(stream.bytesUnsent) + Int64(stream.bytesInSocket ?? 0)
    let unread = bytes > 0 ? ", \(byteText(bytes)) unread" : ""
    guard stream.behind else { return "no" + unread }
    guard let count = stream.behindBy else { return "yes" + unread }
    let isEvents = stream.method.hasSuffix(".Events")
    return Text.count(count, isEvents ? "event" : "commit", isEvents ? "events" : "commits") + unread
  }

  /// `Observe smart:favorites`
  private static func stream(_ stream: ConnectedClient.Stream) -> String {
    let method = stream.method.split(separator: ".").last.map(String.init) ?? stream.method
    return method + (stream.options.map { " \($0)" } ?? "")
  }
}

/// Formats events of the daemon for a person, one on each line.
enum EventText {
  /// - Parameter isFirst: for the first page, missing events were not lost on the way, but are no longer kept.
  static func text(_ page: EventPage, isFirst: Bool, now: PhotoDate = WatchText.now) -> String {
    var text = ""
    if page.missed > 0 {
      let count = Text.count(page.missed, "event", "events")
      text +=
        isFirst ? "(\(count) before these are no longer kept)\n" : "(\(count) missed, because the reader is too slow)\n"
    }
    for event in page.events { text += line(event, now: now) }
    return text
  }

  /// `10:15:02.123  renamed       /p/a.jpg to /p/b.jpg  asset 12  the same photo in another place`
  static func line(_ event: DaemonEvent, now: PhotoDate) -> String {
    var parts = [clock(event.time, now: now), TextWidth.padded(event.kind, to: 14)]
    if let path = event.path {
      parts.append(event.fromPath.map { "\($0) to \(path)" } ?? path)
    }
    if let asset = event.assetID { parts.append("asset \(asset)") }
    parts.append(event.detail)
    return Printable.text(parts.joined(separator: "  ")) + "\n"
  }

  /// The local time with milliseconds; with the date if it is another day.
  private static func clock(_ date: PhotoDate, now: PhotoDate) -> String {
    let milliseconds = String(date.microseconds / 1_000 % 1_000)
    return WatchText.clock(date, now: now) + "." + String(repeating: "0", count: 3 - milliseconds.count)
      + milliseconds
  }
}
