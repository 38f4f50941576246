import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport

/// A client that behaves like a photo application. It connects, fetches the newest photos, requests the status, changes a
/// photo, waits for the library to be as new as the disk, and observes while photos arrive.
///
/// It measures each of these on threads of its own, so that only photod and the machine can delay it.
struct NormalClient: Sendable {
  let socket: String
  let photos: String
  /// A photo of the library that the client changes.
  let photo: AssetID

  enum Act: String, CaseIterable, Sendable { case connect, fetch, status, change, synchronize, observe }

  /// The duration of each act.
  struct Times: Sendable {
    private(set) var samples: [Act: [Duration]] = [:]

    mutating func add(_ act: Act, _ time: Duration) { samples[act, default: []].append(time) }

    mutating func merge(_ other: Times) { samples.merge(other.samples) { $0 + $1 } }

    func quantile(_ share: Double, _ act: Act) -> Duration {
      let sorted = samples[act, default: []].sorted()
      return sorted.isEmpty ? .zero : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }
  }

  struct Failure: Error, CustomStringConvertible { let description: String }

  func run(for time: Duration, round: Int) async throws -> Times {
    let deadline = ContinuousClock.now + time
    return try await run(round: round) { ContinuousClock.now >= deadline }
  }

  /// - Parameters:
  ///   - round: part of the names of the photos that are added.
  ///   - isOver: called between two acts, on the threads of the client.
  func run(round: Int, until isOver: @escaping @Sendable () -> Bool) async throws -> Times {
    async let asked = onThread { try ask(until: isOver) }
    async let observed = onThread { try observe(until: isOver, round: round) }
    var times = try await asked
    times.merge(try await observed)
    return times
  }

  private static let fetch = message(#"{"method":"org.photod.library.Fetch","parameters":{"count":100}}"#)
  private static let info = message(#"{"method":"org.varlink.service.GetInfo"}"#)
  private static let collections = message(#"{"method":"org.photod.library.FetchCollections"}"#)
  private static let status = message(#"{"method":"org.photod.library.Status"}"#)
  private static let synchronize = message(#"{"method":"org.photod.library.Synchronize"}"#)

  /// A change of the photo with this id, of which photod commits each second one.
  private static func change(_ id: AssetID, _ round: Int) -> [UInt8] {
    let edit = #"{"editAsset":{"ids":[\#(id)],"rating":\#(round / 2 % 5)}}"#
    return message(#"{"method":"org.photod.library.PerformChanges","parameters":{"requests":[\#(edit)]}}"#)
  }

  static func message(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

  private func ask(until isOver: () -> Bool) throws -> Times {
    let connection = try RawSocket(socket, timeout: .seconds(60))
    var times = Times()
    var round = 0
    while !isOver() {
      // The adversary stores queries that take very long. Their albums have no counts then, and the call succeeds.
      round += 1
      if round % 100 == 1 { try reply(to: Self.collections, on: connection, "collections") }
      let calls = [
        (Act.connect, Self.info), (.fetch, Self.fetch), (.status, Self.status), (.change, Self.change(photo, round)),
        (.synchronize, Self.synchronize),
      ]
      for (act, message) in calls {
        let start = ContinuousClock.now
        let connection = act == .connect ? try RawSocket(socket, timeout: .seconds(60)) : connection
        try reply(to: message, on: connection, "\(act)")
        times.add(act, .now - start)
      }
      usleep(5_000)
    }
    return times
  }

  private func reply(to message: [UInt8], on connection: RawSocket, _ name: String) throws {
    guard connection.send(message), let reply = connection.receive() else {
      throw Failure(description: "\(name) was not answered within a minute")
    }
    let text = String(decoding: reply.suffix(300), as: UTF8.self)
    if text.contains(#""error""#) { throw Failure(description: "\(name): \(text)") }
  }

  private struct Message: Decodable {
    struct Parameters: Decodable {
      struct Observation: Decodable {
        let count: Int
        let complete: Bool?
      }
      let observation: Observation
    }
    let parameters: Parameters
  }

  /// The number of its own photos that the library has at a time.
  private static let mostPhotos = 100

  /// Adds one photo after the other. Each is added when the list contains the one before. Earlier ones are removed, so
  /// that the library is as large in a long measurement as in a short one.
  private func observe(until isOver: () -> Bool, round: Int) throws -> Times {
    let connection = try RawSocket(socket, timeout: .seconds(60))
    // No client hides a photo, so the count shows whether the new one is there.
    connection.send(
      Self.message(
        #"{"method":"org.photod.library.Observe","more":true,"parameters":{"options":{"includeHidden":true}}}"#))
    func count(of act: String) throws -> Int {
      guard let reply = connection.receive() else { throw Failure(description: "\(act): nothing came within a minute") }
      do {
        return try JSONDecoder().decode(Message.self, from: Data(reply)).parameters.observation.count
      } catch {
        throw Failure(description: "\(act): \(String(decoding: reply.prefix(300), as: UTF8.self))")
      }
    }
    var expected = try count(of: "the list")
    var times = Times()
    var number = 0
    func name(of number: Int) -> String { photos + "/new-\(round)-\(number).jpg" }
    while !isOver() {
      number += 1
      let path = name(of: number)
      try DaemonFixture.photo(number).write(to: URL(fileURLWithPath: photos + "/." + "new"))
      let start = ContinuousClock.now
      guard rename(photos + "/.new", path) == 0 else { throw RawSocket.failure() }
      expected += 1
      while try count(of: path) != expected {}
      times.add(.observe, .now - start)
      let former = number - Self.mostPhotos
      if former > 0 {
        guard unlink(name(of: former)) == 0 else { throw RawSocket.failure() }
        expected -= 1
        while try count(of: "the removal") != expected {}
      }
      usleep(5_000)
    }
    return times
  }
}
