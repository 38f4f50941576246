import Glibc
import PhotoClient
import PhotoModel
import TestTools

/// Measures a fetch result of all assets of a running photod, as an app uses it. Times are those of the clock on the wall,
/// because the app waits for photod.
func clientFigures(rounds: Int, socket: String) async throws -> Figures {
  var figures = Figures()
  var dice = SeededGenerator(seed: 23)
  for round in -1..<rounds {
    var one = Figures()
    let library = PhotoLibrary(socketPath: socket)
    // The first fetch after a commit is the slowest, because photod does not know the length of the new list.
    try await library.performChanges { changes in
      changes.edit([1]) { photo in photo.isFavorite = round % 2 == 0 }
    }
    let before = try residentBytes()
    let began = ContinuousClock.now
    let result = try await library.fetchAssets()
    one.add("fetch", milliseconds(since: began))
    let screen = try await result.objects(at: 0..<min(100, result.count))
    one.add("first screen", milliseconds(since: began))
    precondition(screen.allSatisfy { $0 != nil }, "an asset is missing")
    // A person drags the scroller to the end while the ids arrive.
    _ = try await result.asset(at: result.count - 1)
    one.add("end while the ids arrive", milliseconds(since: began))
    let ids = try await result.ids
    one.add("ids", milliseconds(since: began))
    one.add("memory", Double(try residentBytes() - before) / 1e6)
    for _ in 0..<100 {
      let place = Int.random(in: 0..<result.count, using: &dice)
      let began = ContinuousClock.now
      let range = place..<min(place + 30, result.count)
      let shown = try await result.objects(at: range)
      one.add("place", milliseconds(since: began))
      precondition(shown.map { $0?.id } == ids[range].map { $0 }, "another asset is at \(place)")
    }
    let scrolling = ContinuousClock.now
    let end = min(result.count, 5_000)
    for start in stride(from: 0, to: end, by: 30) { _ = try await result.objects(at: start..<min(start + 30, end)) }
    one.add("scroll", milliseconds(since: scrolling) / (Double(end) / 30))
    one.add("memory after scrolling", Double(try residentBytes() - before) / 1e6)
    // The memory is that of the first round. The next ones use again what it has freed. Its times are not counted.
    for (name, values) in one.values where name.hasPrefix("memory") == (round < 0) {
      for value in values { figures.add(name, value) }
    }
  }
  return figures
}

/// Follows all assets, and prints a line for each change: the nanoseconds of the monotonic clock, the number of assets,
/// whether the change was incremental, and the bytes that the list and its observation take in this process. The first
/// line is `ready`.
func followClient(changes count: Int, socket: String) async throws {
  let library = PhotoLibrary(socketPath: socket)
  let before = try residentBytes()
  var result = try await library.fetchAssets()
  _ = try await result.ids
  print("ready")
  fflush(nil)
  var left = count
  for await change in library.changes(for: [result]) {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    guard let details = change.details(for: result) else { continue }
    result = details.after
    print(
      time.tv_sec * 1_000_000_000 + time.tv_nsec, result.count, details.hasIncrementalChanges ? 1 : 0,
      try residentBytes() - before)
    fflush(nil)
    left -= 1
    if left == 0 { return }
  }
}

private func milliseconds(since began: ContinuousClock.Instant) -> Double {
  let (seconds, attoseconds) = (ContinuousClock.now - began).components
  return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
}
