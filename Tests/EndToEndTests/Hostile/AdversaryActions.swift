import Foundation
import Glibc
import PhotoTestSupport

// The adversary's actions.
extension Adversary {
  func perform(_ action: Action, using random: inout SeededGenerator) throws {
    switch action {
    case .everyMethod: try everyMethod()
    case .malformed: try malformed(using: &random)
    case .hugeMessages: try hugeMessages()
    case .longLists: try longLists(using: &random)
    case .longArguments: try longArguments()
    case .onewayFloods: try onewayFloods()
    case .sentAhead: try sentAhead()
    case .slowReaders: try slowReaders()
    case .halfOpen: try halfOpen()
    case .manyConnections: try manyConnections()
    case .churn: for _ in 0..<200 { _ = try connect() }
    case .expensivePredicates: try expensivePredicates()
    case .expensiveObservers: try expensiveObservers()
    case .floodedHashes: try floodedHashes()
    case .rescans: try rescans()
    case .favorites: try favorites(using: &random)
    }
  }

  /// No other action uses the numbers of these calls, so that one round has a call of every method.
  private func everyMethod() throws {
    for _ in 0..<calls.placeCount {
      let call = calls.call(nextCall())
      if call.isAnswered {
        // The call may wait until photod has decoded the long lists of other threads.
        if try ask(call.message, timeout: .milliseconds(500)) { note(method: call.method) }
      } else {
        // This call needs a connection of its own. A stream would delay the calls behind it, and a oneway call gets no
        // reply.
        let connection = try connect(timeout: .milliseconds(500))
        if connection.send(call.message) { note(method: call.method) }
        receive(connection)
      }
    }
  }

  private func malformed(using random: inout SeededGenerator) throws {
    for call in AdversaryMessages.refused { try ask(call, timeout: .seconds(10)) }
    for bytes in AdversaryMessages.malformed {
      let connection = try connect(timeout: .milliseconds(100))
      connection.send(bytes)
      receive(connection)
    }
    for _ in 0..<10 {
      let connection = try connect(timeout: .milliseconds(50))
      connection.send(
        (0..<Int.random(in: 1...5_000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
      let call = calls.call(.random(in: 0..<calls.count, using: &random)).message
      connection.send(call.prefix(Int.random(in: 0...call.count, using: &random)) + [0])
      receive(connection)
    }
  }

  /// Calls of the largest size that photod takes, and larger ones. Some are incomplete. Together they exceed the bound
  /// of all connections.
  private func hugeMessages() throws {
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    // A busy photod reads them late.
    let connections = try (0..<20).map { _ in try connect(timeout: .seconds(5)) }
    for connection in connections {
      connection.send(Array(#"{"method":"org.photod.library.Explain","parameters":{"path":"/"#.utf8))
    }
    var open = connections
    for _ in 0..<15 { open.removeAll { !$0.send(piece) } }
    for connection in connections { connection.setTimeout(.milliseconds(200)) }
    for connection in connections.prefix(4) { connection.send(Array(#""}}"#.utf8) + [0]) }
    for connection in connections.suffix(4) {
      for _ in 0..<3 { connection.send(piece) }
      connection.send([0])
    }
    for connection in connections.prefix(4) + connections.suffix(4) { receive(connection) }
    // If a message exceeds four times the bound, the connection is closed.
    for _ in 0..<66 where !connections[4].send(piece) { break }
  }

  private func longLists(using random: inout SeededGenerator) throws {
    let connections = try (0..<4).map { _ in try connect(timeout: .seconds(3)) }
    for connection in connections {
      guard let list = AdversaryMessages.longLists.randomElement(using: &random) else { return }
      connection.send(list)
    }
    // The other connections are closed before photod replies.
    for connection in connections.prefix(2) { receive(connection) }
  }

  private func longArguments() throws {
    let connection = try connect(timeout: .seconds(2))
    for method in ["Explain", "Rescan"] {
      guard connection.send(AdversaryMessages.library(method, #"{"path":"\#(AdversaryMessages.longPath)"}"#)) else {
        return
      }
      receive(connection)
    }
  }

  /// The sender disconnects before the first call is carried out.
  private func onewayFloods() throws {
    for _ in 0..<8 {
      let connection = try connect(timeout: .milliseconds(20))
      for _ in 0..<50 where !connection.send(AdversaryMessages.expensive("Fetch", nextSalt(), #","oneway":true"#)) {
        break
      }
    }
    let connection = try connect(timeout: .milliseconds(20))
    for _ in 0..<10_000 where !connection.send(AdversaryMessages.library("Status", "{}", #","oneway":true"#)) { break }
  }

  /// Sends more calls than photod queues, and does not read the replies.
  private func sentAhead() throws {
    let connections = try (0..<4).map { _ in try connect(timeout: .milliseconds(20)) }
    let fetch = AdversaryMessages.library("Fetch", #"{"count":5000}"#)
    for connection in connections { for _ in 0..<10_000 where !connection.send(fetch) { break } }
    held.hold(connections)
  }

  private func slowReaders() throws {
    let calls = [
      AdversaryMessages.library("Fetch", "{}", #","more":true"#),
      AdversaryMessages.library("Fetch", #"{"count":1}"#, #","more":true"#),
      AdversaryMessages.library("FetchIDs", "{}", #","more":true"#),
      AdversaryMessages.library("Observe", #"{"objects":true}"#, #","more":true"#),
      AdversaryMessages.library("ObserveCollections", "{}", #","more":true"#),
      AdversaryMessages.library("FetchPersistentChanges", #"{"follow":true}"#, #","more":true"#),
      AdversaryMessages.library("Status", "{}", #","more":true"#),
      AdversaryMessages.call("org.photod.manage.Events", #"{"follow":true}"#, #","more":true"#),
      AdversaryMessages.call("org.photod.manage.Clients", "{}", #","more":true"#),
    ]
    let connections = try (0..<36).map { index in
      let connection = try connect(timeout: .milliseconds(10))
      connection.send(calls[index % calls.count])
      return connection
    }
    for _ in 0..<5 {
      for connection in connections { connection.read(1) }
      usleep(100_000)
    }
    // Reads the last replies of earlier connections. If a list was not read, its reply is that it expired.
    for connection in held.hold(connections).prefix(3) { while receive(connection) != nil {} }
  }

  private func halfOpen() throws {
    let call = AdversaryMessages.library("Fetch", "{}", #","more":true"#)
    let connections = try (0..<60).map { index in
      let connection = try connect(timeout: .milliseconds(10))
      switch index % 3 {
      case 0: break
      case 1: connection.send(call.dropLast(call.count / 2))
      default:
        connection.send(call)
        connection.endWriting()
      }
      return connection
    }
    usleep(300_000)
    withExtendedLifetime(connections) {}
  }

  /// Opens more connections than photod takes. A refused connection is already closed when a call is sent.
  private func manyConnections() throws {
    var connections: [RawSocket] = []
    for _ in 0..<2_100 { connections.append(try connect(timeout: .seconds(30))) }
    usleep(300_000)
    withExtendedLifetime(connections) {}
  }

  private func expensivePredicates() throws {
    let connections = try (0..<6).map { _ in
      let connection = try connect(timeout: .seconds(1))
      connection.send(AdversaryMessages.expensive("Fetch", nextSalt()))
      return connection
    }
    connections[0].setTimeout(.seconds(10))
    receive(connections[0])
  }

  private func expensiveObservers() throws {
    let connections = try (0..<4).map { _ in
      let connection = try connect(timeout: .seconds(1))
      connection.send(AdversaryMessages.expensive("Observe", nextSalt(), #","more":true"#))
      return connection
    }
    for connection in connections { receive(connection) }
  }

  private func floodedHashes() throws {
    let connection = try connect(timeout: .seconds(1))
    connection.send(AdversaryMessages.library("Status", "{}"))
    guard let reply = receive(connection),
      let token = String(decoding: reply, as: UTF8.self).firstMatch(of: #/"token":"([^"]*)"/#)?.1
    else { return }
    let parameters = #"{"since":"\#(token)","sinceIDs":[\#(AdversaryMessages.collidingIDs)]}"#
    connection.send(AdversaryMessages.library("Observe", parameters, #","more":true"#))
    receive(connection)
  }

  private func rescans() throws {
    for index in 0..<40 {
      let connection = try connect(timeout: .milliseconds(20))
      let flag = index.isMultiple(of: 2) ? #","oneway":true"# : ""
      connection.send(AdversaryMessages.library("Rescan", index % 4 == 3 ? #"{"dryRun":true}"# : "{}", flag))
    }
  }

  /// Changes that every client may make, without a pause.
  private func favorites(using random: inout SeededGenerator) throws {
    let connection = try connect()
    for _ in 0..<20 {
      let some = ids.shuffled(using: &random).prefix(20).map(String.init).joined(separator: ",")
      let edit = #"{"editAsset":{"ids":[\#(some)],"isFavorite":\#(Bool.random(using: &random))}}"#
      connection.send(AdversaryMessages.library("PerformChanges", #"{"requests":[\#(edit)]}"#))
      receive(connection)
    }
  }
}
