import PhotoModel
import Testing

@testable import PhotoIndexer

/// The files that must be read again.
@Suite struct ReadRetriesTests {
  private static let second: Int64 = 1_000_000_000

  private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * second) }

  /// The queues agree with a look at all retries, whatever happens to them.
  @Test func theQueuesAgreeWithAllRetries() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20 {
      var retries = ReadRetries()
      var now: Int64 = 1
      for _ in 0..<300 {
        let id = AssetID(rawValue: .random(in: 1...30, using: &random))
        let volume = VolumeID(rawValue: .random(in: 1...3, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: retries.addPending(id, on: volume, at: Self.time(now + .random(in: 0...9, using: &random)))
        case 1: retries.addIncomplete(id, on: volume, since: Self.time(now))
        case 2:
          retries.addFailing(
            id, on: volume, path: Array("/p/\(id.rawValue % 7)".utf8), reason: "r", since: Self.time(now), date: 1)
        case 3: retries.putOff(id, since: Self.time(now))
        case 4: retries.putOffPending(id, until: Self.time(now + 3))
        case 5: retries.remove(id)
        case 6: retries.removePending(id)
        default: now += .random(in: 0...20, using: &random)
        }
        check(&retries, at: Self.time(now))
      }
    }
  }

  private func check(_ retries: inout ReadRetries, at now: MonotonicTime) {
    let all = retries.all
    #expect(retries.pending == all.filter(\.value.isPending).keys.sorted())
    #expect(retries.pendingCount == retries.pending.count)
    let failing = all.filter { $0.value.failure != nil }
    #expect(retries.failureCount == failing.count && Set(retries.failures.map(\.assetID)) == Set(failing.keys))
    let paths = failing.values.compactMap(\.failure?.path)
    #expect(retries.firstFailure?.path == paths.min { $0.lexicographicallyPrecedes($1) })
    let due = all.filter { $0.value.at <= now }
    #expect(retries.hasDue(at: now) == !due.isEmpty)
    var (readable, failed): ([AssetID], [AssetID]) = ([], [])
    let volumes = retries.readableVolumes(at: now)
    for volume in volumes {
      while let id = retries.takeReadable(on: volume) {
        #expect(retries[id]?.volumeID == volume)
        readable.append(id)
      }
    }
    while let id = retries.takeFailing(at: now) { failed.append(id) }
    let dueReadable = due.filter { $0.value.failure == nil }
    #expect(readable.sorted() == dueReadable.keys.sorted() && volumes == Set(dueReadable.values.map(\.volumeID)))
    let overdue = due.filter { $0.value.failure != nil }.sorted { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
    #expect(failed == overdue.map(\.key))
    retries.giveBack(readable + failed)
  }

  /// The library asks for these numbers after each batch. A count over all retries would make n batches, with a file each
  /// that can't be read, cost the square of n.
  @Test func theTimeForEachRetryDoesNotGrowWithTheirNumber() {
    let (few, many) = (time(ofRetries: 500), time(ofRetries: 4_000))
    #expect(many < 16 * few, "\(few) and \(many) ns")
  }

  /// The processor time for so many retries, in nanoseconds: the shortest of three.
  private func time(ofRetries count: Int64) -> Int64 {
    let volume = VolumeID(rawValue: 1)
    return (0..<3).map { _ in
      let start = WorkBudget.threadTime()
      var retries = ReadRetries()
      for number in 1...count {
        let now = Self.time(number)
        let path = Array("/p/\(number)".utf8)
        retries.addPending(AssetID(rawValue: number), on: volume, at: now)
        retries.addFailing(AssetID(rawValue: count + number), on: volume, path: path, reason: "r", since: now, date: 1)
        #expect(retries.pendingCount == number && retries.failureCount == number && retries.firstFailure != nil)
        #expect(retries.hasDue(at: now))
        #expect(retries.readableVolumes(at: now) == [volume])
        let taken = (0..<4).compactMap { _ in retries.takeReadable(on: volume) }
        retries.giveBack(taken)
      }
      return WorkBudget.threadTime() - start
    }.min()!
  }
}
