/// The open connections of a service by number.
///
/// Whether a new connection is accepted depends on their number, in all and of its process. These counts are kept here,
/// because counting two thousand connections for each new one would delay all others.
struct ConnectionTable<Connection> {
  struct Entry {
    let connection: Connection
    /// The process at the other end.
    let process: Int32
    /// The number of the `serve` that accepted it.
    let listener: Int
  }

  private var entries: [Int: Entry] = [:]
  private var processCounts: [Int32: Int] = [:]
  private var listenerCounts: [Int: Int] = [:]

  var count: Int { entries.count }

  var all: [Connection] { entries.values.map(\.connection) }

  subscript(number: Int) -> Connection? { entries[number]?.connection }

  func count(ofProcess process: Int32) -> Int { processCounts[process] ?? 0 }

  func isEmpty(ofListener listener: Int) -> Bool { listenerCounts[listener] == nil }

  func all(ofListener listener: Int) -> [Connection] {
    entries.values.filter { $0.listener == listener }.map(\.connection)
  }

  /// - Precondition: no connection has this number.
  mutating func insert(_ entry: Entry, number: Int) {
    let former = entries.updateValue(entry, forKey: number)
    precondition(former == nil, "two connections have the number \(number)")
    processCounts[entry.process, default: 0] += 1
    listenerCounts[entry.listener, default: 0] += 1
  }

  /// Removes a connection if it is still in the table.
  mutating func remove(_ number: Int) {
    guard let entry = entries.removeValue(forKey: number) else { return }
    Self.decrease(entry.process, in: &processCounts)
    Self.decrease(entry.listener, in: &listenerCounts)
  }

  mutating func removeAll(ofListener listener: Int) {
    for (number, entry) in entries where entry.listener == listener { remove(number) }
  }

  /// Processes and listeners come and go. So an entry without connections is removed.
  private static func decrease<Key>(_ key: Key, in counts: inout [Key: Int]) {
    let count = counts[key, default: 0] - 1
    counts[key] = count > 0 ? count : nil
  }
}
