import Foundation
import Glibc
import PhotoTestSupport

// The adversary's actions.
extension Adversary {
  /// - Returns: whether the action was done: photod accepted its connections, and took the messages that make it one.
  func perform(_ action: Action, using random: inout SeededGenerator) throws -> Bool {
    switch action {
    case .everyMethod: try everyMethod()
    case .malformed: try malformed(using: &random)
    case .hugeMessages: try hugeMessages()
    case .longLists: try longLists(using: &random)
    case .longArguments: try longArguments()
    case .longPaths: try longPaths()
    case .onewayFloods: try onewayFloods()
    case .sentAhead: try sentAhead()
    case .slowReaders: try slowReaders()
    case .halfOpen: try halfOpen()
    case .manyConnections: try manyConnections()
    case .churn: try churn()
    case .expensivePredicates: try expensivePredicates()
    case .expensiveObservers: try expensiveObservers()
    case .floodedHashes: try floodedHashes()
    case .rescans: try rescans()
    case .favorites: try favorites(using: &random)
    case .albums: try albums(using: &random)
    case .undo: try undo(using: &random)
    case .costlySmartAlbums: try costlySmartAlbums()
    }
  }

  /// No other action uses the numbers of these calls, so that one round has a call of every method.
  private func everyMethod() throws -> Bool {
    var takenCount = 0
    for _ in 0..<calls.placeCount {
      let call = calls.call(nextCall())
      if call.isAnswered {
        // The call may wait until photod has decoded the long lists of other threads.
        guard try ask(call.message, timeout: .milliseconds(500)) else { continue }
      } else {
        // This call needs a connection of its own. A stream would delay the calls behind it, and a oneway call gets no
        // reply.
        let connection = try connect(timeout: .milliseconds(500))
        guard connection.send(call.message) else { continue }
        receive(connection)
      }
      note(method: call.method)
      takenCount += 1
    }
    return takenCount == calls.placeCount
  }

  private func malformed(using random: inout SeededGenerator) throws -> Bool {
    var isTaken = true
    for call in AdversaryMessages.refused { isTaken = try ask(call, timeout: .seconds(10)) && isTaken }
    for bytes in AdversaryMessages.malformed {
      let connection = try connect(timeout: .milliseconds(100))
      isTaken = connection.send(bytes) && isTaken
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
    return isTaken
  }

  /// Calls of the largest size that photod takes, and larger ones. Some are incomplete. Together they exceed the bound
  /// of all connections.
  private func hugeMessages() throws -> Bool {
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    // A busy photod reads them late.
    let connections = try (0..<20).map { _ in try connect(timeout: .seconds(5)) }
    var open = connections
    open.removeAll { !$0.send(Array(#"{"method":"org.photod.library.Explain","parameters":{"path":"/"#.utf8)) }
    let isTaken = open.count == connections.count
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
    return isTaken
  }

  private func longLists(using random: inout SeededGenerator) throws -> Bool {
    let connections = try (0..<4).map { _ in try connect(timeout: .seconds(3)) }
    var takenCount = 0
    for connection in connections {
      guard let list = AdversaryMessages.longLists.randomElement(using: &random) else { return false }
      if connection.send(list) { takenCount += 1 }
    }
    // The other connections are closed before photod replies.
    for connection in connections.prefix(2) { receive(connection) }
    // photod reads no further list while it holds the others.
    return takenCount > 0
  }

  private func longArguments() throws -> Bool {
    let connection = try connect(timeout: .seconds(2))
    for method in ["Explain", "Rescan"] {
      guard connection.send(AdversaryMessages.library(method, #"{"path":"\#(AdversaryMessages.longPath)"}"#)) else {
        return false
      }
      receive(connection)
    }
    return true
  }

  /// The longest paths that photod takes, below the library's folder. No part of them exists.
  private func longPaths() throws -> Bool {
    let connection = try connect(timeout: .seconds(10))
    var isTaken = true
    for name in ["d", ".d", "IMG_1.jpg"] {
      let path = (folder + String(repeating: "/" + name, count: 65_535 / (name.utf8.count + 1))).prefix(65_535)
      for method in ["Explain", "Rescan"] {
        isTaken = connection.send(AdversaryMessages.library(method, #"{"path":"\#(path)"}"#)) && isTaken
        isTaken = receive(connection) != nil && isTaken
      }
    }
    return isTaken
  }

  /// The sender disconnects before the first call is carried out.
  private func onewayFloods() throws -> Bool {
    var count = 0
    for _ in 0..<8 {
      let connection = try connect(timeout: .milliseconds(20))
      for _ in 0..<50 {
        guard connection.send(AdversaryMessages.expensive("Fetch", nextSalt(), #","oneway":true"#)) else { break }
        count += 1
      }
    }
    let connection = try connect(timeout: .milliseconds(20))
    for _ in 0..<10_000 where !connection.send(AdversaryMessages.library("Status", "{}", #","oneway":true"#)) { break }
    return count > 16
  }

  /// Sends more calls than photod queues, and does not read the replies.
  private func sentAhead() throws -> Bool {
    let connections = try (0..<4).map { _ in try connect(timeout: .milliseconds(20)) }
    let fetch = AdversaryMessages.library("Fetch", #"{"count":5000}"#)
    var count = 0
    for connection in connections {
      for _ in 0..<10_000 {
        guard connection.send(fetch) else { break }
        count += 1
      }
    }
    held.hold(connections)
    // photod queues 16 of them for each connection.
    return count > connections.count * 16
  }

  private func slowReaders() throws -> Bool {
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
    var sentCount = 0
    let connections = try (0..<36).map { index in
      let connection = try connect(timeout: .milliseconds(10))
      if connection.send(calls[index % calls.count]) { sentCount += 1 }
      return connection
    }
    for _ in 0..<5 {
      for connection in connections { connection.read(1) }
      usleep(100_000)
    }
    // Reads the last replies of earlier connections. If a list was not read, its reply is that it expired. An observer's
    // replies have no end, so the reading has one.
    for connection in held.hold(connections).prefix(3) {
      let end = ContinuousClock.now + .seconds(1)
      while ContinuousClock.now < end, receive(connection) != nil {}
    }
    return sentCount == connections.count
  }

  private func halfOpen() throws -> Bool {
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
    return true
  }

  private func churn() throws -> Bool {
    for _ in 0..<200 { _ = try connect() }
    return true
  }

  /// Opens more connections than photod takes. A refused connection is already closed when a call is sent.
  private func manyConnections() throws -> Bool {
    var connections: [RawSocket] = []
    for _ in 0..<2_100 { connections.append(try connect(timeout: .seconds(30))) }
    usleep(300_000)
    withExtendedLifetime(connections) {}
    return true
  }

  private func expensivePredicates() throws -> Bool {
    var isTaken = true
    let connections = try (0..<6).map { _ in
      let connection = try connect(timeout: .seconds(1))
      isTaken = connection.send(AdversaryMessages.expensive("Fetch", nextSalt())) && isTaken
      return connection
    }
    connections[0].setTimeout(.seconds(10))
    receive(connections[0])
    return isTaken
  }

  private func expensiveObservers() throws -> Bool {
    var isTaken = true
    let connections = try (0..<4).map { _ in
      let connection = try connect(timeout: .seconds(1))
      isTaken = connection.send(AdversaryMessages.expensive("Observe", nextSalt(), #","more":true"#)) && isTaken
      return connection
    }
    for connection in connections { receive(connection) }
    return isTaken
  }

  private func floodedHashes() throws -> Bool {
    let connection = try connect(timeout: .seconds(1))
    connection.send(AdversaryMessages.library("Status", "{}"))
    guard let reply = receive(connection),
      let token = String(decoding: reply, as: UTF8.self).firstMatch(of: #/"token":"([^"]*)"/#)?.1
    else { return false }
    let parameters = #"{"since":"\#(token)","sinceIDs":[\#(AdversaryMessages.collidingIDs)]}"#
    guard connection.send(AdversaryMessages.library("Observe", parameters, #","more":true"#)) else { return false }
    receive(connection)
    return true
  }

  private func rescans() throws -> Bool {
    var isTaken = true
    for index in 0..<40 {
      let connection = try connect(timeout: .milliseconds(20))
      let flag = index.isMultiple(of: 2) ? #","oneway":true"# : ""
      let call = AdversaryMessages.library("Rescan", index % 4 == 3 ? #"{"dryRun":true}"# : "{}", flag)
      isTaken = connection.send(call) && isTaken
    }
    return isTaken
  }

  /// Changes that every client may make, without a pause.
  private func favorites(using random: inout SeededGenerator) throws -> Bool {
    let connection = try connect()
    var isTaken = true
    for _ in 0..<20 {
      let some = ids.shuffled(using: &random).prefix(20).map(String.init).joined(separator: ",")
      let edit = #"{"editAsset":{"ids":[\#(some)],"isFavorite":\#(Bool.random(using: &random))}}"#
      isTaken = connection.send(AdversaryMessages.library("PerformChanges", #"{"requests":[\#(edit)]}"#)) && isTaken
      receive(connection)
    }
    return isTaken
  }
}
