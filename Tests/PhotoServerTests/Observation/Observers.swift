import PhotoContract
import Varlink

@testable import PhotoLive
@testable import PhotoServer

/// Several observations of one fetch that a test advances, and the observations sent to each.
struct Observers {
  var observations: [ListObservation]
  var sent: [[Observation]]
  var encoded: [[VarlinkEncoded]]

  init(_ fixture: ServerFixture, count: Int, _ parameters: ObserveRequest = ObserveRequest()) async throws {
    observations = try (0..<count).map { _ in try fixture.observation(parameters) }
    sent = Array(repeating: [], count: count)
    encoded = Array(repeating: [], count: count)
    for index in observations.indices {
      try await observations[index].begin {
        sent[index].append($0)
        encoded[index].append($1)
      }
    }
  }

  mutating func advance(_ range: Range<Int>? = nil) async throws {
    for index in range ?? observations.indices {
      try await observations[index].advance {
        sent[index].append($0)
        encoded[index].append($1)
      }
    }
  }
}
