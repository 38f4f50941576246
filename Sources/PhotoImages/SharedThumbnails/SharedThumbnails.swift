import Dispatch
import Glibc
import ImageRecords
import Logging
import PhotoModel
import Synchronization
import SystemErrors

/// The thumbnails that photod shares with other programs, in the folder that the freedesktop.org standard names.
///
/// 1. If `isWriting` is set, each picture of a kept size is also written as a PNG, in its size and the smaller ones. The
///    picture is converted by photod-image while no request waits.
/// 2. A thumbnail is found by the path of its photo. If the photo moves, its thumbnails are moved too. If it is hidden,
///    trashed or deleted, they are removed. This is done in the background, for half of the time of one thread.
/// 3. After a start, all recorded assets are compared with the library. So a change that photod had no time for is done
///    then. Until then, the thumbnail of an old path is harmless: no program looks it up without a file at that path, and
///    a file with another time of modification does not match it.
/// 4. photod removes only thumbnails that it has written. It replaces one of another program only if it is out of date.
///
/// One thread does all the work, so the steps for one asset never overlap.
final class SharedThumbnails: Sendable {
  private struct State {
    var queue = ThumbnailQueue()
    var isWorking = false
    var isWriting: Bool
    /// The error of the last write, and until when no other is tried.
    var failedWrite: (errorNumber: Int32, end: UInt32)?
    /// The time that the thread worked and did not rest yet.
    var owedRest = Duration.zero
    var retries = SettleRetries()
  }

  /// The parts of the engine that this uses.
  struct Surroundings: Sendable {
    var assets: any ImageAssets
    var maker: any PictureMaker
    var store: PictureStore
    var clock: ImageClock
    var logger: Logger
    /// A picture with more pixels is not converted.
    var maximumPixels: Int64
    /// Whether requests wait or run.
    var isBusy: @Sendable () -> Bool
    /// It is called when the queue is no longer full.
    var onRoom: @Sendable () -> Void
  }

  /// How long no thumbnail is written after an error, in seconds.
  private static let pauseAfterError: UInt32 = 60
  /// Shorter rests would cost more than they give.
  private static let shortestRest = Duration.milliseconds(2)
  private static let longestRest = Duration.seconds(1)
  /// The PNG of a file that could not be decoded has one transparent pixel.
  private static let emptyPicture: [UInt8] =
    PNGChunks.signature
    + PNGChunks.chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0])
    + PNGChunks.chunk("IDAT", [0x78, 1, 1, 5, 0, 0xFA, 0xFF, 0, 0, 0, 0, 0, 0, 5, 0, 1])
    + PNGChunks.chunk("IEND", [])

  let folder: ThumbnailFolder
  let records: ThumbnailRecords
  private let version: String
  private var software: String { "photod \(version)" }
  private let surroundings: Surroundings
  private let state: Mutex<State>
  private let threads = LaneThreads()
  private let end = DispatchSemaphore(value: 0)

  /// All places where photod may have written a thumbnail.
  private var places: [ThumbnailFolder.Place] {
    ThumbnailSize.allCases.map { .size($0) } + [.failure(version: version)]
  }

  init(_ configuration: SharedThumbnailConfiguration, recordsDirectory: String, _ surroundings: Surroundings) {
    folder = ThumbnailFolder(path: configuration.folder, onChange: configuration.onChange)
    records = ThumbnailRecords(directory: recordsDirectory, onChange: configuration.onChange)
    version = configuration.version
    self.surroundings = surroundings
    state = Mutex(State(isWriting: configuration.isWriting))
  }

  /// Compares all records with the library, in the background. Without records, there is nothing to do.
  func start() {
    guard records.exist else { return }
    add { $0.settleAll() }
  }

  /// Orders the end. A piece of work that runs is finished.
  func shutDown() {
    end.signal()
    threads.end()
  }

  func waitForEnd(until deadline: DispatchTime) { threads.waitForEnd(until: deadline) }

  var isWriting: Bool { state.withLock { $0.isWriting } }
  func setWriting(_ isWriting: Bool) { state.withLock { $0.isWriting = isWriting } }

  /// Whether thumbnails must follow the library.
  var followsLibrary: Bool { isWriting || records.exist }

  /// Whether so many pictures wait that no other should be made without need.
  var isFull: Bool { state.withLock { $0.queue.isFull } }
  var isIdle: Bool { state.withLock { $0.queue.isEmpty && !$0.isWorking } }

  /// Requests have ended, so pictures may be converted.
  func wake() { threads.wake() }

  // MARK: - Orders

  /// Moves and removes the thumbnails of these assets, as their present state asks. An unknown asset was deleted.
  func settle(_ assetIDs: some Collection<AssetID>) {
    guard !assetIDs.isEmpty, followsLibrary else { return }
    add { $0.settle(assetIDs) }
  }

  /// Does the same for all recorded assets.
  func settleAll() {
    guard followsLibrary else { return }
    add { $0.settleAll() }
  }

  /// Writes the thumbnails of a kept picture, if it has a kept size and the thumbnails are not there.
  func share(_ key: PictureKey) {
    guard isWriting, key.isOfKeptSize || key.isOfOriginalSize, key.file < ThumbnailRecords.mostFiles else { return }
    add { $0.write(key) }
  }

  /// Notes that a file can't be decoded.
  func shareFailure(_ failure: ThumbnailQueue.Failure) {
    guard isWriting, failure.file < ThumbnailRecords.mostFiles else { return }
    add { $0.write(failure) }
  }

  private func add(_ body: (inout ThumbnailQueue) -> Void) {
    state.withLock { body(&$0.queue) }
    threads.start(1) { [self] in work() }
    threads.wake()
  }

  // MARK: - The thread

  /// - Returns: false if there is nothing to do now.
  private func work() -> Bool {
    let isBusy = surroundings.isBusy()
    let now = surroundings.clock.seconds()
    let (work, hasRoom) = state.withLock { state -> (ThumbnailQueue.Work?, Bool) in
      let wasFull = state.queue.isFull
      if let ids = state.retries.take(now: now) { state.queue.settle(ids) }
      let work = state.queue.take(mayDecode: !isBusy)
      state.isWorking = work != nil
      return (work, wasFull && !state.queue.isFull)
    }
    guard let work else { return false }
    defer { state.withLock { $0.isWorking = false } }
    let begin = ContinuousClock.now
    switch work {
    case .settle(let assetID): settle(assetID)
    case .readRecords(let folder): readRecords(folder)
    case .write(let key): write(key)
    case .writeFailure(let failure): writeFailure(failure)
    }
    if hasRoom { surroundings.onRoom() }
    if case .write = work { return true }
    rest(after: ContinuousClock.now - begin)
    return true
  }

  /// Rests for as long as the thread has worked.
  private func rest(after duration: Duration) {
    let rest = state.withLock { state -> Duration? in
      state.owedRest += duration
      guard state.owedRest >= Self.shortestRest else { return nil }
      defer { state.owedRest = .zero }
      return min(state.owedRest, Self.longestRest)
    }
    guard let rest else { return }
    let (seconds, attoseconds) = rest.components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    // The end of photod ends the rest, and all later ones.
    if end.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success { end.signal() }
  }

  private func readRecords(_ folder: Int) {
    if folder == 0 { self.folder.removeLeftovers(exceptOf: version, now: surroundings.clock.seconds()) }
    let ids = records.assetIDs(inFolder: folder)
    state.withLock { $0.queue.settle(ids) }
  }

  private func asset(_ id: AssetID) -> Result<ImageAsset?, any Error> {
    Result { try surroundings.assets.imageAsset(id) }
  }

  // MARK: - Following the library

  private func settle(_ id: AssetID) {
    // Most assets have no records, so each link is looked up only once.
    var recorded: [(record: ThumbnailRecords.Record, interrupted: ThumbnailRecords.Record?)] = []
    var begun: [ThumbnailRecords.Record] = []
    for file in 0..<ThumbnailRecords.mostFiles {
      let new = records.newRecord(of: id, file: file)
      if let record = records.record(of: id, file: file) {
        recorded.append((record: record, interrupted: new))
      } else if let new {
        begun.append(new)
      }
    }
    let asset: ImageAsset?
    switch self.asset(id) {
    case .success(let found):
      asset = found
      state.withLock { $0.retries.succeeded() }
    case .failure(let error):
      surroundings.logger.debug("an asset could not be read", metadata: ["error": "\(error)"])
      return settleLater(id)
    }
    if let asset, !asset.isShareable {
      // The records may have been deleted with the cache of photod, or name other paths. In an earlier catalog, the
      // photo had another id. So all thumbnails that photod has written for its paths go.
      for file in asset.files { removeThumbnails(of: file.path) }
    }
    for (record, interrupted) in recorded { settle(record, interrupted: interrupted, asset) }
    // photod was killed before the first record of a file was whole.
    for rest in begun { endMove(to: rest) }
  }

  private func settleLater(_ id: AssetID) {
    let now = surroundings.clock.seconds()
    guard let pause = state.withLock({ $0.retries.add(id, now: now) }) else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Int(pause) + 1)) { [weak self] in self?.wake() }
  }

  /// - Parameter interrupted: where the thumbnails of the record were being moved when photod was killed.
  private func settle(
    _ record: ThumbnailRecords.Record, interrupted: ThumbnailRecords.Record?, _ asset: ImageAsset?
  ) {
    let file = file(of: record, asset)
    if let interrupted, interrupted.path != file?.path {
      // Now their file is at another path, or gone.
      if interrupted.path == record.path { records.removeNew(interrupted) } else { endMove(to: interrupted) }
    }
    var hasThumbnails = false
    /// A photod that was killed may have moved a thumbnail, and neither removed the former one nor recorded the path. The
    /// photo may have changed since.
    func settleMoved(_ place: ThumbnailFolder.Place) {
      guard let file, let asset, file.path != record.path, let moved = folder.facts(place, of: file.path),
        moved.assetID == record.assetID
      else { return }
      if moved.isValid(of: file, asset) { hasThumbnails = true } else { folder.remove(place, of: file.path) }
    }
    for place in places {
      guard let facts = folder.facts(place, of: record.path), facts.assetID == record.assetID else {
        settleMoved(place)
        continue
      }
      guard let file, let asset, facts.isValid(of: file, asset) else {
        folder.remove(place, of: record.path)
        settleMoved(place)
        continue
      }
      guard file.path != record.path else {
        hasThumbnails = true
        continue
      }
      if let other = folder.facts(place, of: file.path), other.assetID == nil, other.matches(file) {
        // Another program has made one since the file was moved. It stays.
        folder.remove(place, of: record.path)
        continue
      }
      do throws(ThumbnailFolder.WriteError) {
        // Another photo may have a thumbnail at the new path, if files changed their names with each other. Its owner gets
        // another one when a picture of it is made.
        try records.begin(.init(assetID: record.assetID, file: record.file, path: file.path))
        if try folder.move(place, from: record.path, to: file.path) { hasThumbnails = true }
      } catch {
        folder.remove(place, of: record.path)
        note(error)
      }
    }
    guard let file, hasThumbnails else {
      records.removeNew(record)
      return records.remove(record)
    }
    guard file.path != record.path else { return records.removeNew(record) }
    do throws(ThumbnailFolder.WriteError) {
      try records.set(.init(assetID: record.assetID, file: record.file, path: file.path))
    } catch {
      removeThumbnails(of: file.path, assetID: record.assetID)
      note(error)
    }
  }

  /// Removes the thumbnails of a path to which they were being moved, and then its record.
  private func endMove(to record: ThumbnailRecords.Record) {
    removeThumbnails(of: record.path, assetID: record.assetID)
    records.removeNew(record)
  }

  /// The recorded file, at its present path. Nil if no thumbnail of it may be shared.
  private func file(of record: ThumbnailRecords.Record, _ asset: ImageAsset?) -> ImageFile? {
    guard let asset, asset.isShareable else { return nil }
    // The order of the files changes when an asset gets another one.
    let file =
      asset.files.first { $0.path == record.path }
      ?? (asset.files.indices.contains(record.file) ? asset.files[record.file] : nil)
    return file.flatMap { folder.admits($0.path) ? $0 : nil }
  }

  // MARK: - Writing

  private func write(_ key: PictureKey) {
    guard let (asset, file) = shareable(key.assetID, revision: key.revision, file: key.file),
      let picture = surroundings.store.find(key)
    else { return }
    defer { surroundings.store.unpin(key, wasSent: false) }
    endFormerRecord(of: file, asset)
    folder.remove(.failure(version: version), of: file.path)
    recordPresent(file, asset)
    let sizes = ThumbnailSize.sizes(of: picture.header.size, isWholePhoto: key.isOfOriginalSize)
    // Valid thumbnails of other programs stay. One with the id of another asset is from an earlier catalog.
    let present = sizes.filter { size in
      folder.facts(.size(size), of: file.path)?.isValid(of: file, asset) ?? false
    }
    let missing = sizes.filter { !present.contains($0) }
    guard !missing.isEmpty, let facts = ThumbnailFacts(of: file, asset, software: software) else { return }
    let descriptor = open(picture.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    write(file, asset) { () throws(ThumbnailFolder.WriteError) in
      for size in missing {
        guard let bytes = converted(picture, descriptor, name: file.name, to: size) else { return }
        try folder.write(bytes, facts, .size(size), of: file.path)
      }
    }
  }

  /// The picture as PNG, in the size of a thumbnail. Nil if it can't be converted.
  private func converted(
    _ picture: PictureStore.Found, _ descriptor: Int32, name: [UInt8], to size: ThumbnailSize
  ) -> [UInt8]? {
    // Kept pictures are upright.
    let request = PictureRequest(
      name: Array(name.prefix(255)), contentType: picture.header.contentType, kind: .rendered,
      frame: PictureFrame(width: UInt32(size.side), height: UInt32(size.side)), format: .png, orientation: 1,
      maximumPixels: UInt64(max(0, surroundings.maximumPixels)), maximumBytes: UInt64(ThumbnailFolder.maximumBytes))
    guard case .picture(let made) = surroundings.maker.make(request, from: descriptor), made.header.isPNG,
      max(made.header.size.width, made.header.size.height) <= size.side
    else { return nil }
    return made.bytes
  }

  private func writeFailure(_ failure: ThumbnailQueue.Failure) {
    guard let (asset, file) = shareable(failure.assetID, revision: failure.revision, file: failure.file),
      let facts = ThumbnailFacts(of: file, asset, software: software)
    else { return }
    endFormerRecord(of: file, asset)
    let place = ThumbnailFolder.Place.failure(version: version)
    guard folder.facts(place, of: file.path)?.isValid(of: file, asset) != true else {
      return recordPresent(file, asset)
    }
    write(file, asset) { () throws(ThumbnailFolder.WriteError) in
      try folder.write(Self.emptyPicture, facts, place, of: file.path)
    }
  }

  /// The asset and its file, if a thumbnail of this revision may be written now.
  private func shareable(_ id: AssetID, revision: UInt64, file: Int) -> (ImageAsset, ImageFile)? {
    let now = surroundings.clock.seconds()
    let isPaused = state.withLock { $0.failedWrite.map { $0.end > now } ?? false }
    guard !isPaused, isWriting, case .success(let found) = asset(id), let asset = found, asset.isShareable,
      PictureHash.revision(asset.revision) == revision, asset.files.indices.contains(file),
      asset.files[file].modifiedSeconds != nil, folder.admits(asset.files[file].path)
    else { return nil }
    return (asset, asset.files[file])
  }

  /// Makes room for the record of a file. If its place has that of another path, the thumbnails there are moved to their file, or
  /// removed if it has another place now. Without this, no later step would find them.
  private func endFormerRecord(of file: ImageFile, _ asset: ImageAsset) {
    func formerRecord() -> ThumbnailRecords.Record? {
      records.record(of: asset.id, file: file.index).flatMap { $0.path == file.path ? nil : $0 }
    }
    guard let former = formerRecord() else {
      // photod was killed while it moved the thumbnails, and the file is not where they were moved.
      if let new = records.newRecord(of: asset.id, file: file.index), new.path != file.path { endMove(to: new) }
      return
    }
    settle(former, interrupted: records.newRecord(of: former.assetID, file: former.file), asset)
    guard let rest = formerRecord() else { return }
    removeThumbnails(of: rest.path, assetID: rest.assetID)
    records.remove(rest)
  }

  /// Records a file that has thumbnails of photod, and no record. The records may have been deleted with the cache. Without
  /// one, the thumbnails would not follow the file.
  private func recordPresent(_ file: ImageFile, _ asset: ImageAsset) {
    guard records.record(of: asset.id, file: file.index) == nil,
      places.contains(where: { folder.facts($0, of: file.path)?.assetID == asset.id })
    else { return }
    write(file, asset) {}
  }

  /// Removes the thumbnails of a path that photod has written.
  /// - Parameter assetID: the asset for which it has written them; nil for any.
  private func removeThumbnails(of path: [UInt8], assetID: AssetID? = nil) {
    for place in places {
      guard let writtenFor = folder.facts(place, of: path)?.assetID, assetID.map({ $0 == writtenFor }) ?? true
      else { continue }
      folder.remove(place, of: path)
    }
  }

  /// Records the file, and writes its thumbnails. If the asset changes meanwhile, it is settled after this.
  private func write(
    _ file: ImageFile, _ asset: ImageAsset, _ body: () throws(ThumbnailFolder.WriteError) -> Void
  ) {
    do throws(ThumbnailFolder.WriteError) {
      try records.set(.init(assetID: asset.id, file: file.index, path: file.path))
      try body()
      state.withLock { $0.failedWrite = nil }
    } catch {
      note(error)
    }
  }

  /// Logs an error once, until another one occurs or a write succeeds.
  private func note(_ error: ThumbnailFolder.WriteError) {
    let pauseEnd = surroundings.clock.seconds() + Self.pauseAfterError
    let isKnown = state.withLock { state in
      defer { state.failedWrite = (error.errorNumber, pauseEnd) }
      return state.failedWrite?.errorNumber == error.errorNumber
    }
    guard !isKnown else { return }
    surroundings.logger.error(
      "thumbnails can't be shared",
      metadata: ["directory": "\(folder.path)", "reason": "\(errorText(error.errorNumber))"])
  }
}

extension ImageAsset {
  /// Whether other programs may get a thumbnail of it. Pictures of hidden and trashed assets are for photod's clients.
  var isShareable: Bool { !isHidden && !isTrashed }
}
