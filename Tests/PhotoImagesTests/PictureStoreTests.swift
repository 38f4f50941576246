import Dispatch
import Foundation
import Glibc
import Logging
import PhotoModel
import Synchronization
import TestTools
import Testing

@testable import PhotoImages

/// The files of kept pictures.
struct PictureStoreTests {
  @Test func sentPathStaysReadableForSixtySeconds() async throws {
    let fixture = try EngineFixture(maximumBytes: 10_000)
    fixture.assets.add(1...40)
    let session = try fixture.session()
    let first = try #require(try await fixture.picture(1, in: session, as: 1).path)
    for id in AssetID(2)...40 {
      try session.request([ImageDemand(id: id, assetID: id, options: .thumbnail)])
      try await eventually("picture \(id) is made") { fixture.maker.rendered.count == Int(id.rawValue) }
      _ = await session.cancel(nil)
    }
    try await fixture.waitUntilIdle()
    fixture.clock.advance(60)
    fixture.engine.store.tidy()
    #expect(isReadable(first))
    #expect(fixture.engine.statistics().bytes <= 10_000)
    #expect(fixture.engine.statistics().maximumBytes == 10_000)
    fixture.clock.advance(1)
    _ = try await fixture.picture(41 - 1, .square(128), in: session, as: 100)
    fixture.clock.advance(100)
    for id in AssetID(2)...30 { _ = try await fixture.picture(id, .square(128), in: session, as: 100 + id.rawValue) }
    try await fixture.waitUntilIdle()
    #expect(!isReadable(first))
  }

  /// The disk of the folder is not full, so the remedy is another one, and the reason is that of the folder.
  @Test func folderThatCannotBeMadeIsNamedWithItsReason() throws {
    // No folder can be made in /sys: not permitted, or read-only.
    let store = PictureStore(
      directory: "/sys/photod-test/pictures", library: 7, maximumBytes: 1_000, clock: .monotonic(),
      logger: Logger(label: "test")
    ) { _ in false }
    let png: [UInt8] =
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 0, count: 8) + [0, 0, 0, 1, 0, 0, 0, 1]
    let header = try #require(PictureHeader(png[...]))
    let error = #expect(throws: PictureStore.WriteError.self) {
      try store.put(PictureKey(library: 7, assetID: 1, revision: 1, variant: 0), png, header)
    }
    #expect(error?.errorNumber != ENOENT && error?.isFull == false)
  }

  @Test func waitingResultKeepsItsFile() async throws {
    let fixture = try EngineFixture(maximumBytes: 5000)
    fixture.assets.add(1...30)
    let (slow, session) = (try fixture.session(), try fixture.session())
    try slow.request([ImageDemand(id: 1, assetID: 1, options: .thumbnail)])
    try await fixture.waitUntilIdle()
    for id in AssetID(2)...30 {
      _ = try await fixture.picture(id, in: session, as: id)
      fixture.clock.advance(100)
    }
    try await fixture.waitUntilIdle()
    let path = try #require(slow.takeResults().first?.path)
    #expect(isReadable(path))
    #expect(fixture.engine.statistics().bytes <= 5000)
  }

  /// A client may have opened the path that it was sent.
  @Test func fileOfASentPathIsNeverChangedInPlace() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    let path = try #require(try await fixture.picture(1, in: session, as: 1).path)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var status = stat()
    #expect(fstat(descriptor, &status) == 0)
    let inode = status.st_ino
    let bytes = FileReading.bytes(of: descriptor, offset: 0, count: 10_000)
    #expect(bytes.count == 1000)
    fixture.maker.state.withLock { $0.byteCount = 2000 }
    try fixture.engine.clear()
    #expect(try await fixture.picture(1, in: session, as: 2).path == path)
    #expect(fstat(descriptor, &status) == 0 && status.st_ino == inode)
    #expect(FileReading.bytes(of: descriptor, offset: 0, count: 10_000) == bytes)
    #expect(stat(path, &status) == 0 && status.st_ino != inode && status.st_size == 2000)
  }

  @Test func leastRecentlyUsedPicturesAreEvicted() async throws {
    let fixture = try EngineFixture(maximumBytes: 10_000)
    fixture.assets.add(1...12)
    let session = try fixture.session()
    for id in AssetID(1)...9 {
      _ = try await fixture.picture(id, in: session, as: id)
      fixture.clock.advance(100)
    }
    _ = try await fixture.picture(1, in: session, as: 10)
    fixture.clock.advance(100)
    for id in AssetID(10)...12 {
      _ = try await fixture.picture(id, in: session, as: id + 1)
      fixture.clock.advance(100)
    }
    try await fixture.waitUntilIdle()
    let kept = Set(fixture.keptFiles.compactMap { Int($0.split(separator: "/")[1].prefix { $0 != "-" }) })
    #expect(kept.contains(1) && !kept.contains(2) && !kept.contains(3) && kept.contains(12))
  }

  @Test func aSmallerSizeTakesEffectAtOnce() async throws {
    let fixture = try EngineFixture(maximumBytes: 20_000)
    fixture.assets.add(1...12)
    let session = try fixture.session()
    for id in AssetID(1)...12 { _ = try await fixture.picture(id, in: session, as: id) }
    #expect(fixture.keptFiles.count == 12)
    fixture.clock.advance(100)
    fixture.engine.setMaximumBytes(5000)
    fixture.engine.store.waitUntilIdle()
    #expect(fixture.engine.statistics().maximumBytes == 5000)
    #expect(fixture.engine.statistics().bytes <= 5000 && fixture.keptFiles.count < 6)
  }

  /// A store with ten pictures of 1000 bytes, and no engine.
  private func fullStore(
    in folder: TemporaryFolder, isHeld: @escaping @Sendable (_ assetID: AssetID) -> Bool
  ) throws -> PictureStore {
    let store = PictureStore(
      directory: folder.path + "/pictures", library: 7, maximumBytes: 10_000, clock: ManualClock().clock,
      logger: Logger(label: "test"), isHeld: isHeld)
    let bytes = FakeJPEG.bytes(ImageFrame(width: 256, height: 171), count: 1000)
    let header = try #require(PictureHeader(bytes[...]))
    for id in AssetID(1)...10 {
      let found = try store.put(PictureKey(library: 7, assetID: id, revision: 1, variant: 0), bytes, header)
      store.unpin(found.key, wasSent: false)
    }
    return store
  }

  /// In each round, one more picture can go, as if the time of another one that was sent had just ended.
  @Test func evictionEndsIfAllPicturesThatCanGoHaveGone() throws {
    let folder = try TemporaryFolder("images")
    let rounds = Mutex<AssetID>(0)
    let store = try fullStore(in: folder) { id in
      rounds.withLock { rounds in
        // The picture of the asset 1 is the first one of a round, and stays.
        if id == 1 { rounds += 1 }
        return id == 1 || id > rounds + 1
      }
    }
    store.setMaximumBytes(2000)
    store.waitUntilIdle()
    #expect(rounds.withLock { $0 } == 1 && store.byteCount == 9000)
    #expect(store.state.withLock { $0.evictionPause } > 0, "others can go later")
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func threadsThatNeedRoomReadTheFoldersOnce() async throws {
    let folder = try TemporaryFolder("images")
    let rounds = Mutex(0)
    let store = try fullStore(in: folder) { id in
      if id == 10 { rounds.withLock { $0 += 1 } }
      return id == 10
    }
    store.queue.suspend()
    let group = DispatchGroup()
    let begun = Mutex(0)
    let ended = Mutex(0)
    for _ in 0..<4 {
      DispatchQueue.global().async(group: group) {
        begun.withLock { $0 += 1 }
        #expect(store.makeRoom(for: 500))
        ended.withLock { $0 += 1 }
      }
    }
    try await eventually("all threads need room") { begun.withLock { $0 } == 4 }
    store.queue.resume()
    try await eventually("all threads have room") { ended.withLock { $0 } == 4 }
    #expect(rounds.withLock { $0 } == 1)
  }

  @Test func pictureOfACachingSetIsNotEvicted() async throws {
    let fixture = try EngineFixture(maximumBytes: 5000)
    fixture.assets.add(1...60)
    let session = try fixture.session()
    let frame = ImageFrame(width: 256, height: 256)
    try session.startCaching(assetIDs: Array(1...30), frame: frame, contentMode: .aspectFit)
    try await eventually("caching stops") { fixture.engine.shared.withLock { $0.cachingPause } != nil }
    let held = Set(fixture.keptFiles)
    #expect(held.count == fixture.maker.rendered.count, "nothing was evicted to make room")
    #expect(held.count >= 3 && fixture.engine.statistics().bytes <= 5000)
    for id in AssetID(31)...50 {
      _ = try await fixture.picture(id, in: session, as: id)
      fixture.clock.advance(100)
    }
    #expect(held.isSubset(of: Set(fixture.keptFiles)))
    try session.stopCachingAll()
    for id in AssetID(51)...60 {
      _ = try await fixture.picture(id, in: session, as: id)
      fixture.clock.advance(100)
    }
    try await fixture.waitUntilIdle()
    #expect(!held.isSubset(of: Set(fixture.keptFiles)))
  }

  @Test func damagedPictureIsMadeAgain() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    let damages: [(String) -> Void] = [
      { truncate($0, 500) }, { truncate($0, 0) },
      { path in
        // The same size, and no picture.
        write(Data(count: 1000), to: path)
      },
      { path in
        // The end is missing, as after a loss of power.
        let bytes = FakeJPEG.bytes(ImageFrame(width: 256, height: 171), count: 900) + [UInt8](repeating: 0, count: 100)
        write(Data(bytes), to: path)
      },
      { path in
        // One bit in the middle has changed, so the header and the end are whole.
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(pwrite(descriptor, [1], 1, 500) == 1)
      }, { unlink($0) },
    ]
    var path = try #require(try await fixture.picture(1, in: session, as: 1).path)
    for (number, damage) in damages.enumerated() {
      damage(path)
      path = try #require(try await fixture.picture(1, in: session, as: AssetID(number + 2)).path)
      #expect(fixture.maker.rendered.count == number + 2)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == 1000)
    }
    // Nothing told the store of the file that another program removed.
    fixture.engine.store.scan()
    fixture.engine.store.waitUntilIdle()
    #expect(fixture.engine.statistics().bytes == 1000)
  }

  /// An earlier version, or another file system, has kept the picture.
  @Test func pictureWithoutAChecksumIsGivenOut() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    let path = try #require(try await fixture.picture(1, in: session, as: 1).path)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    unlink(path)
    write(bytes, to: path)
    #expect(try await fixture.picture(1, in: session, as: 2).path == path)
    #expect(fixture.maker.rendered.count == 1)
  }

  /// The pieces of a checksum are smaller than the picture.
  @Test(arguments: [100_000, PictureChecksum.mostBytes, PictureChecksum.mostBytes + 1])
  func checksumHoldsForLargePictures(_ byteCount: Int) throws {
    let folder = try TemporaryFolder("images")
    let descriptor = open(folder.path + "/picture", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 / 100) }
    #expect(write(descriptor, bytes, byteCount) == byteCount)
    PictureChecksum.write(bytes, to: descriptor)
    #expect(PictureChecksum.holds(descriptor, byteCount: byteCount))
    #expect(pwrite(descriptor, [7, 7], 2, off_t(byteCount - 50)) == 2)
    #expect(PictureChecksum.holds(descriptor, byteCount: byteCount) == (byteCount > PictureChecksum.mostBytes))
  }

  @Test func renamedPhotoKeepsItsPictures() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    let before = try await fixture.picture(1, in: session, as: 1)
    var status = stat()
    stat(try #require(before.path), &status)
    let written = status.st_mtim.tv_nsec
    fixture.assets.change(1) { $0.files[0].path = Array("/elsewhere/other.jpg".utf8) }
    fixture.engine.assetsChanged([1])
    try await fixture.waitUntilIdle()
    let after = try await fixture.picture(1, in: session, as: 2)
    #expect(after.path == before.path && fixture.maker.rendered.count == 1)
    stat(try #require(after.path), &status)
    #expect(status.st_mtim.tv_nsec == written)
  }

  @Test func changedPhotoLosesItsFormerPictures() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    for (number, side) in [128, 256, 512].enumerated() {
      _ = try await fixture.picture(1, .square(side), in: session, as: AssetID(number))
    }
    fixture.assets.change(1) { $0.revision = "r2" }
    fixture.clock.advance(61)
    fixture.engine.assetsChanged([1])
    try await fixture.waitUntilIdle()
    #expect(fixture.keptFiles.isEmpty)
    let result = try await fixture.picture(1, in: session, as: 10)
    #expect(result.picture?.revision == "r2")
  }

  @Test func deletedPhotoLosesItsPictures() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...3)
    let session = try fixture.session()
    var paths: [String] = []
    for id in AssetID(1)...3 {
      paths.append(try #require(try await fixture.picture(id, in: session, as: id).path))
      if id < 3 { fixture.clock.advance(61) }
    }
    fixture.assets.remove(2)
    fixture.assets.remove(3)
    fixture.engine.assetsWereRemoved([2, 3])
    try await fixture.waitUntilIdle()
    #expect(paths.map(isReadable) == [true, false, true], "the last one was sent a moment ago")
    fixture.clock.advance(61)
    fixture.engine.store.tidy()
    #expect(paths.map(isReadable) == [true, false, false])
    #expect(fixture.engine.statistics().bytes == 1000)
  }

  @Test func pictureOfADeletedPhotoDoesNotOutliveTheEngine() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    let session = try fixture.session()
    for id in AssetID(1)...2 { _ = try await fixture.picture(id, in: session, as: id) }
    fixture.assets.remove(2)
    fixture.engine.assetsWereRemoved([2])
    try await fixture.waitUntilIdle()
    #expect(fixture.keptFiles.count == 2, "both were sent a moment ago")
    fixture.engine.shutDown()
    #expect(fixture.keptFiles.count == 1)
  }

  /// The engine ends before its queue has removed anything.
  @Test func orderedRemovalIsCarriedOutAtTheEnd() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    let session = try fixture.session()
    for id in AssetID(1)...2 { _ = try await fixture.picture(id, in: session, as: id) }
    try await fixture.waitUntilIdle()
    fixture.engine.store.queue.suspend()
    defer { fixture.engine.store.queue.resume() }
    fixture.assets.remove(2)
    fixture.engine.assetsWereRemoved([2])
    fixture.engine.shutDown()
    #expect(fixture.keptFiles.count == 1)
  }

  /// The disk is so slow that the time for the end is over. The next engine may already use the folder.
  @Test(arguments: [false, true]) func nothingIsRemovedAfterTheEnd(isSent: Bool) async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    let session = try fixture.session()
    for id in AssetID(1)...2 { _ = try await fixture.picture(id, in: session, as: id) }
    try await fixture.waitUntilIdle()
    fixture.assets.remove(2)
    let store = fixture.engine.store
    if isSent {
      fixture.engine.assetsWereRemoved([2])
      try await fixture.waitUntilIdle()
    } else {
      fixture.clock.advance(61)
      store.queue.suspend()
      fixture.engine.assetsWereRemoved([2])
    }
    store.finishRemovals(until: .now())
    #expect(fixture.keptFiles.count == 2)
    fixture.clock.advance(61)
    if !isSent { store.queue.resume() }
    store.tidy()
    fixture.engine.setMaximumBytes(500)
    store.waitUntilIdle()
    #expect(fixture.keptFiles.count == 2)
  }

  /// The queue may work when all removals are done.
  @Test func nothingIsEvictedAfterTheEnd() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    let session = try fixture.session()
    for id in AssetID(1)...2 { _ = try await fixture.picture(id, in: session, as: id) }
    fixture.engine.shutDown()
    fixture.clock.advance(61)
    fixture.engine.setMaximumBytes(500)
    fixture.engine.store.waitUntilIdle()
    #expect(fixture.keptFiles.count == 2)
  }

  /// photod was killed before the pictures of deleted photos were removed.
  @Test func picturesOfPhotosThatAreGoneGoAtTheNextStart() async throws {
    let folder = try TemporaryFolder("images")
    let assets = FakeAssets()
    assets.add(1...4)
    do {
      let fixture = try EngineFixture(assets: assets, in: folder)
      let session = try fixture.session()
      for id in AssetID(1)...4 { _ = try await fixture.picture(id, in: session, as: id) }
    }
    assets.remove(2)
    assets.remove(3)
    assets.setReadable(false)
    let unread = try EngineFixture(assets: assets, in: folder)
    try await unread.waitUntilIdle()
    #expect(unread.keptFiles.count == 4, "nothing is known of the photos")
    unread.engine.shutDown()
    assets.setReadable(true)
    let next = try EngineFixture(assets: assets, in: folder)
    try await next.waitUntilIdle()
    let kept = next.keptFiles.compactMap { Int($0.split(separator: "/")[1].prefix { $0 != "-" }) }
    #expect(kept == [1, 4] && next.engine.statistics().bytes == 2000)
  }

  /// Two photods with different catalogs run at the same time. The ids of their assets are the same.
  @Test func anotherLibraryKeepsItsPictures() async throws {
    let folder = try TemporaryFolder("images")
    let first = try EngineFixture(in: folder)
    first.assets.add(1...4)
    let session = try first.session()
    var paths: [String] = []
    for id in AssetID(1)...4 { paths.append(try #require(try await first.picture(id, in: session, as: id).path)) }
    let temporary = folder.path + "/pictures/temporary/\(first.engine.store.token)-9"
    write(Data(count: 9), to: temporary)
    var status = stat()
    #expect(stat(paths[0], &status) == 0)
    #expect(utimensat(AT_FDCWD, temporary, [status.st_mtim, status.st_mtim], 0) == 0)
    let other = try EngineFixture(library: "other", in: folder)
    other.assets.add(1...2)
    try await other.waitUntilIdle()
    #expect(paths.allSatisfy(isReadable) && isReadable(temporary))
    #expect(other.engine.statistics().bytes == 4000, "the pictures of all libraries count")
    // A picture of the same asset and revision may show another photo.
    let own = try #require(try await other.picture(1, in: try other.session(), as: 1).path)
    #expect(other.maker.rendered.count == 1 && !paths.contains(own))
    other.assets.change(1) { $0.revision = "r2" }
    other.assets.remove(2)
    other.engine.assetsChanged([1])
    other.engine.assetsWereRemoved([2])
    other.clock.advance(61)
    other.engine.store.tidy()
    try await other.waitUntilIdle()
    #expect(!isReadable(own) && paths.allSatisfy(isReadable))
    // One of them was written while the clock was wrong.
    var later = status.st_mtim
    later.tv_sec += 86_400
    #expect(utimensat(AT_FDCWD, paths[3], [later, later], 0) == 0)
    try other.engine.clear()
    #expect(paths.dropLast().allSatisfy(isReadable), "they may have been sent in the last minute")
    #expect(!isReadable(paths[3]))
    // The pictures of a catalog that was replaced are evicted.
    other.clock.advance(3600)
    other.engine.setMaximumBytes(2000)
    other.engine.store.waitUntilIdle()
    #expect(paths.count(where: isReadable) == 1)
    try other.engine.clear()
    #expect(!paths.contains(where: isReadable))
    let third = try EngineFixture(library: "third", in: folder)
    third.clock.advance(7200)
    third.engine.store.scan()
    try await third.waitUntilIdle()
    #expect(!isReadable(temporary), "the photod that wrote it was killed")
  }

  @Test func clearEmptiesTheStore() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    let session = try fixture.session()
    _ = try await fixture.picture(1, in: session, as: 1)
    fixture.clock.advance(61)
    let recent = try #require(try await fixture.picture(2, in: session, as: 2).path)
    try fixture.engine.clear()
    #expect(fixture.keptFiles.count == 1 && isReadable(recent))
    // It is made again under the same name, which is then no longer removed.
    #expect(try await fixture.picture(2, in: session, as: 3).path == recent)
    fixture.clock.advance(61)
    fixture.engine.store.tidy()
    #expect(isReadable(recent) && fixture.maker.rendered.count == 3)
  }

  @Test func picturesSurviveARestart() async throws {
    let folder = try TemporaryFolder("images")
    do {
      let fixture = try EngineFixture(in: folder)
      fixture.assets.add(1...5)
      let session = try fixture.session()
      for id in AssetID(1)...5 { _ = try await fixture.picture(id, in: session, as: id) }
      fixture.engine.shutDown()
    }
    // Files that a killed photod leaves behind, and files of other programs.
    let cache = folder.path + "/pictures"
    let temporary = "\(cache)/temporary/\(PictureStore.tokenStart(PictureHash.library("library")))dead-1"
    write(Data(count: 9), to: temporary)
    let copy = "\(cache)/temporary/\(TemporaryNames.copyStart)17"
    write(Data(), to: copy)
    // It is not older than an hour, after which any temporary file is removed.
    let now = timespec(tv_sec: Int(ManualClock().clock.seconds()), tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, copy, [now, now], 0) == 0)
    write(Data(count: 9), to: cache + "/01/note.txt")
    let assets = FakeAssets()
    assets.add(1...5)
    let fixture = try EngineFixture(assets: assets, in: folder)
    let session = try fixture.session()
    for id in AssetID(1)...5 { #expect(try await fixture.picture(id, in: session, as: id).longerSide == 256) }
    #expect(fixture.maker.rendered.isEmpty)
    try await fixture.waitUntilIdle()
    #expect(fixture.engine.statistics().bytes == 5000)
    #expect(access(temporary, F_OK) != 0)
    #expect(access(copy, F_OK) != 0, "a copy of a file on a share that was not unlinked yet")
    #expect(isReadable(cache + "/01/note.txt"))
    // The pictures of an asset that was not asked for can be removed too.
    fixture.clock.advance(61)
    fixture.engine.assetsWereRemoved([5])
    try await fixture.waitUntilIdle()
    #expect(fixture.keptFiles.count == 4)
  }

  @Test func removedCacheDirectoryIsMadeAgain() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    let session = try fixture.session()
    _ = try await fixture.picture(1, in: session, as: 1)
    try FileManager.default.removeItem(atPath: fixture.cache)
    #expect(try await fixture.picture(1, in: session, as: 2).path.map(isReadable) == true)
    #expect(try await fixture.picture(2, in: session, as: 3).path.map(isReadable) == true)
  }

  @Test func fullDiskIsReported() async throws {
    let folder = try TemporaryFolder("images")
    // A file in place of the folder fails all writing.
    write(Data(), to: folder.path + "/pictures")
    let fixture = try EngineFixture(in: folder)
    fixture.assets.add(1...1)
    let session = try fixture.session()
    #expect(try await fixture.picture(1, in: session, as: 1).failure == .storageFull)
    try FileManager.default.removeItem(atPath: folder.path + "/pictures")
    #expect(try await fixture.picture(1, in: session, as: 2).longerSide == 256, "it is not remembered")
  }

  @Test(arguments: 0..<20) func oldestFilesAreThoseOfASort(_ seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var oldest = OldestFiles(64)
    var all: [KeptFile] = []
    for id in AssetID(0)..<AssetID.random(in: 1...2_999, using: &random) {
      var status = stat()
      status.st_mtim.tv_sec = .random(in: 0..<1000, using: &random)
      let file = KeptFile(key: PictureKey(library: 7, assetID: id, revision: 0, variant: 0), isPNG: false, status)
      all.append(file)
      if oldest.mayTake(file) { oldest.add(file) }
    }
    #expect(oldest.sorted.count <= 128)
    #expect(oldest.sorted.prefix(64).map(\.lastUse) == all.map(\.lastUse).sorted().prefix(64).map { $0 })
  }

  @Test func sentPictureIsRememberedForSixtySecondsAndForgottenLater() {
    var sent = RecentlySent()
    func key(_ id: AssetID) -> PictureKey { PictureKey(library: 7, assetID: id, revision: 0, variant: 0) }
    for now in UInt32(1000)..<1500 {
      sent.note(key(AssetID(now)), at: now)
      for past in [0, 1, 30, 59, 60, 61, 100, 200] as [UInt32] where now - past >= 1000 {
        #expect(sent.contains(key(AssetID(now - past)), at: now) == (past <= 60), "\(past) s")
      }
    }
    sent.note(key(1), at: 1500)
    sent.dropExpired(at: 1561)
    #expect(!sent.contains(key(1), at: 1561))
    sent.dropExpired(at: 1700)
    #expect(sent.isEmpty)
  }

  /// All orders that come meanwhile are carried out with one reading of each folder.
  @Test func manyPhotosLoseTheirPicturesAtOnce() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...300)
    let session = try fixture.session()
    for id in AssetID(1)...300 { try session.request([ImageDemand(id: id, assetID: id, options: .thumbnail)]) }
    _ = try await fixture.results(of: session, finals: 300)
    fixture.clock.advance(61)
    for id in AssetID(1)...100 { fixture.assets.remove(id) }
    for id in AssetID(101)...200 { fixture.assets.change(id) { $0.revision = "r2" } }
    for id in AssetID(1)...100 { fixture.engine.assetsWereRemoved([id]) }
    fixture.engine.assetsChanged(Array(101...300))
    try await fixture.waitUntilIdle()
    let kept = fixture.keptFiles.compactMap { Int($0.split(separator: "/")[1].prefix { $0 != "-" }) }
    #expect(Set(kept) == Set(201...300) && fixture.engine.statistics().bytes == 100_000)
  }

  @Test func namesAreRead() throws {
    for id in [AssetID(0), 17, 255, 256, .max] {
      for target in [PictureTarget.kept(256), .original, .exact(ImageFrame(width: 300, height: 200), covers: true)] {
        let key = PictureKey(
          library: .max, assetID: id, revision: PictureHash.revision("r"), file: 3, target: target, isPNG: false,
          milliseconds: 1500)
        let name = key.name(isPNG: true)
        let parsed = try #require(PictureKey.parse(String(name.split(separator: "/")[1])))
        #expect(parsed.key == key && parsed.isPNG)
      }
    }
    #expect(PictureKey.parse("1-2-3-4.jpg")?.key == PictureKey(library: 4, assetID: 1, revision: 2, variant: 3))
    let others = [
      "", "1-2-3.jpg", "1-2-3-4.gif", "-1-2-3-4.jpg", "01-2-3-4.jpg", "1-02-3-4.jpg", "1-2-3-4-5.jpg", "1-2-3-G.jpg",
    ]
    for name in others { #expect(PictureKey.parse(name) == nil, "\(name)") }
  }
}

/// Writes a file. A test that goes on without it fails.
private func write(_ data: Data, to path: String) {
  #expect(FileManager.default.createFile(atPath: path, contents: data), "\(path)")
}
