import ChangeDetails
import PhotoContract
import PhotoModel
import Testing

/// A list that is updated from the replies of Observe, by the contract's rules alone.
struct Replica {
  var ids: [AssetID] = []
  var token = ""
  var eventCount = 0

  mutating func apply(_ observation: Observation) throws {
    eventCount += 1
    if let page = observation.ids {
      if observation.offset == 0 { ids = [] }
      try #require(observation.offset == ids.count)
      ids += page
      token = observation.token
      guard observation.complete == true else { return }
    } else {
      try #require(observation.previousToken == token, "the chain broke")
      if let details = observation.details { ids = try details.applied(to: ids) }
      token = observation.token
    }
    try #require(observation.count == ids.count)
    try #require(observation.digest == ListDigest(of: ids).description, "out of step")
  }
}
