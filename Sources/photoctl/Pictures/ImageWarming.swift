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

  /// How often the progress is reported on standard error.
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
    var made = 0
    var lastReport = ContinuousClock.now
    while made < ids.count {
      if ContinuousClock.now - lastReport >= reportInterval {
        lastReport = .now
        Output.complain(
          "photoctl: \(Text.grouped(made)) of \(Text.count(ids.count, "asset", "assets")) have their pictures\n")
      }
      if !isImmediate { try await waitUntilIdle() }
      let part = Array(ids[made...].prefix(Self.partCount))
      // The pictures that were made before stay in the set, so that they are not evicted for later ones.
      if made % Self.mostMembers + part.count > Self.mostMembers { images.stopCachingImagesForAllAssets() }
      images.startCachingImages(for: part, targetSize: Self.size)
      await images.sent()
      try await waitUntilMade(made, of: ids.count)
      made += part.count
    }
    return (ids.count, max(0, try await images.statistics().failed - failedBefore))
  }

  private func waitUntilIdle() async throws {
    guard let reason = idleness.reasonToWait() else { return }
    Output.complain("photoctl: waiting, because \(reason)\n")
    repeat { try await Task.sleep(for: interval) } while idleness.reasonToWait() != nil
  }

  /// photod makes the members of sets last, so they are made when nothing is queued.
  private func waitUntilMade(_ made: Int, of count: Int) async throws {
    while true {
      let statistics = try await images.statistics()
      if statistics.queued == 0, statistics.running == 0 { return }
      guard statistics.bytes < statistics.maximumBytes / 100 * 95 else {
        throw Failure(
          .inputOutput,
          "the cache has no room for more pictures: \(byteText(statistics.bytes)) of \(byteText(statistics.maximumBytes)) are used, and the first \(Text.grouped(made)) of \(Text.count(count, "asset", "assets")) have pictures",
          remedy: "Set a larger image-cache-size in the configuration of photod, and run the command again.",
          command: "images")
      }
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}
