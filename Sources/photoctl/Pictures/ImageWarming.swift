import PhotoClient

/// Makes the 256-pixel pictures of all assets through a caching set.
///
/// photod makes the members of a set only while no program requests pictures. The set has a part of the assets at a time,
/// so that the work stops soon when the machine gets busy.
struct ImageWarming {
  private static let size = ImageSize(width: 256, height: 256)
  /// A second's work of a few processors.
  private static let partCount = 200

  let library: PhotoLibrary
  let images: ImageManager
  let isImmediate: Bool
  var idleness = MachineIdleness()
  /// How long to wait before looking again.
  var interval: Duration = .seconds(1)

  /// How often the progress is reported on standard error at most.
  var reportInterval: Duration = .seconds(10)

  /// The set may not outgrow the contract's limit for a session.
  private static let mostMembers = 50_000

  /// - Returns: how many assets there are, and how many pictures could not be made meanwhile, for any program.
  /// - Throws: ``Failure`` if the cache is full.
  func run() async throws -> (count: Int, failed: Int) {
    defer { images.close() }
    let failedBefore = try await images.statistics().failed
    var ids: [AssetID] = []
    for try await page in library.fetchIDs(FetchOptions(includeHidden: true)) { ids += page.ids }
    var report = Report(count: ids.count, interval: reportInterval)
    while report.made < ids.count {
      if !isImmediate { try await waitUntilIdle(&report) }
      let part = Array(ids[report.made...].prefix(Self.partCount))
      // The pictures that were made before stay in the set, so that they are not evicted for later ones.
      if report.made % Self.mostMembers + part.count > Self.mostMembers { images.stopCachingImagesForAllAssets() }
      images.startCachingImages(for: part, targetSize: Self.size)
      await images.sent()
      try await waitUntilMade(&report)
      report.made += part.count
    }
    return (ids.count, max(0, try await images.statistics().failed - failedBefore))
  }

  /// Writes the progress to standard error, at most once in an interval.
  private struct Report {
    let count: Int
    let interval: Duration
    var made = 0
    private var last = ContinuousClock.now
    private var lastReason: String?

    init(count: Int, interval: Duration) { (self.count, self.interval) = (count, interval) }

    mutating func progress() {
      guard ContinuousClock.now - last >= interval else { return }
      write("\(Text.grouped(made)) of \(Text.count(count, "asset", "assets")) have their pictures")
    }

    /// Says why the work waits, at once if the reason is another one than before.
    mutating func waiting(because reason: String) {
      guard reason != lastReason || ContinuousClock.now - last >= interval else { return }
      lastReason = reason
      write("waiting, because \(reason)")
    }

    private mutating func write(_ text: String) {
      last = .now
      Output.complain("photoctl: \(text)\n")
    }
  }

  private func waitUntilIdle(_ report: inout Report) async throws {
    while let reason = idleness.reasonToWait() {
      report.waiting(because: reason)
      try await Task.sleep(for: interval)
    }
  }

  /// photod makes the members of sets last, so they are made when nothing is queued.
  private func waitUntilMade(_ report: inout Report) async throws {
    while true {
      report.progress()
      let statistics = try await images.statistics()
      if statistics.queued == 0, statistics.running == 0 { return }
      guard statistics.bytes < statistics.maximumBytes / 100 * 95 else {
        throw Failure(
          .inputOutput,
          "the cache has no room for more pictures: \(byteText(statistics.bytes)) of \(byteText(statistics.maximumBytes)) are used, and the first \(Text.grouped(report.made)) of \(Text.count(report.count, "asset", "assets")) have pictures",
          remedy: "Set a larger image-cache-size in the configuration of photod, and run the command again.",
          command: "images")
      }
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}
