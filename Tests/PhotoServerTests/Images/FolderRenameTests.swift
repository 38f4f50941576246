import Foundation
import Glibc
import Logging
import PhotoContract
import PhotoModel
import TestTools
import Testing
import Varlink

@testable import PhotoImages
@testable import PhotoServer

/// The pictures of a folder when the folder is renamed. The work is counted, because times depend on the machine.
@Suite(.timeLimit(.minutes(10))) struct FolderRenameTests {
  /// How many photos of each folder have a picture.
  private static let pictureCount = 5

  /// The inode and the times of each file of the store, by its path.
  private func files(_ fixture: ImageFixture) -> [String: [Int]] {
    var found: [String: [Int]] = [:]
    for case let name as String in FileManager.default.enumerator(atPath: fixture.store) ?? .init()
    where name.hasSuffix(".jpg") {
      var status = stat()
      guard stat("\(fixture.store)/\(name)", &status) == 0 else { continue }
      found[name] = [
        Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
        status.st_ctim.tv_nsec,
      ]
    }
    return found
  }

  /// The times of each folder of the store, which each new, renamed or removed file changes.
  private func folders(_ fixture: ImageFixture) -> [String: [Int]] {
    var found: [String: [Int]] = [:]
    for case let name as String in FileManager.default.enumerator(atPath: fixture.store) ?? .init() {
      var status = stat()
      guard stat("\(fixture.store)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { continue }
      found[name] = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }
    return found
  }

  private func sharedNames(_ fixture: ImageFixture) -> Set<String> {
    let names = FileManager.default.enumerator(atPath: fixture.thumbnails + "/large")?.compactMap { $0 as? String }
    return Set((names ?? []).filter { $0.hasSuffix(".png") })
  }

  private func expectedNames(_ fixture: ImageFixture, _ folder: String) -> Set<String> {
    Set(
      (0..<Self.pictureCount).map {
        ThumbnailURI(path: Array(fixture.path("\(folder)/\($0).jpg").utf8)).fileName
      })
  }

  /// The reads of assets depend on the pictures that are shared, and not on the photos of the folder. Without sharing,
  /// there are none.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds"), arguments: [10, 5_000], [false, true])
  func renamingAFolderTouchesNoPicture(photoCount: Int, isSharing: Bool) async throws {
    let fixture = try ImageFixture(isSharing: isSharing)
    let (directory, ids) = try fixture.addFolder("old", photos: photoCount)
    let other = try fixture.add("other.jpg")
    let updates = ImageUpdates(
      engine: fixture.engine, live: fixture.server.live, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    let task = Task { await updates.follow() }
    defer { task.cancel() }
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      let shown = ids.prefix(Self.pictureCount) + [other]
      try await session.request(shown.enumerated().map { .frame(Int64($0) + 1, $1) })
      for _ in shown { #expect(try await session.next().image != nil) }
      if isSharing {
        try await eventually("they are shared") {
          sharedNames(fixture).isSuperset(of: expectedNames(fixture, "old"))
            && sharedNames(fixture).count == shown.count
        }
      }
      try await eventually("nothing is left to do") { fixture.engine.sharedThumbnails?.isIdle ?? true }
      let (kept, made) = (files(fixture), fixture.maker.count)
      #expect(kept.count == shown.count)
      _ = fixture.counted.takeCount()

      try fixture.renameFolder(directory, from: "old", to: "new")
      if isSharing {
        try await eventually("the thumbnails follow") {
          sharedNames(fixture).isSuperset(of: expectedNames(fixture, "new"))
            && sharedNames(fixture).count == shown.count
        }
      }
      // Commits are followed in their order. When the later one was followed, the rename was, too.
      try fixture.change(other, "other.jpg", "another content")
      try await eventually("the change of the other photo was followed") {
        isSharing ? sharedNames(fixture).count == Self.pictureCount : fixture.counted.count > 0
      }
      try await eventually("nothing is left to do") { fixture.engine.sharedThumbnails?.isIdle ?? true }
      let reads = fixture.counted.takeCount()
      // The other photo is read once for its revision. With sharing, each recorded photo is read at the start, and once
      // for each commit.
      #expect(reads <= (isSharing ? 3 * shown.count + 1 : 1), "\(reads) reads of assets")
      let after = files(fixture)
      #expect(after.allSatisfy { kept[$0.key] == $0.value }, "a file of the store was touched")
      #expect(fixture.maker.count == made)
    }
  }

  /// Each of 10,000 photos has a kept picture, or of 300 if only quick tests run. The rename is one commit. After it, no picture was made, moved or removed,
  /// and the catalog was read for none of them.
  @Test func renamingAFolderTouchesNoneOfManyPictures() async throws {
    let fixture = try ImageFixture()
    let count = TestTier.count(10_000, quick: 300)
    let (directory, ids) = try fixture.addFolder("old", photos: count)
    let other = try fixture.add("other.jpg")
    let updates = ImageUpdates(
      engine: fixture.engine, live: fixture.server.live, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    let task = Task { await updates.follow() }
    defer { task.cancel() }
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      let set = CachingRequest(session: session.name, assetIDs: ids + [other], targetWidth: 256, targetHeight: 256)
      _ = try await session.call("StartCaching", set, VarlinkEmpty.self)
      try await eventually("all pictures are kept") {
        let statistics = fixture.engine.statistics()
        return statistics.queued == 0 && statistics.running == 0
      }
      fixture.engine.store.waitUntilIdle()
      let (kept, places, made) = (files(fixture), folders(fixture), fixture.maker.count)
      #expect(kept.count == count + 1 && made == count + 1)
      _ = fixture.counted.takeCount()
      let sequence = fixture.server.live.feed.sequence

      try fixture.renameFolder(directory, from: "old", to: "new")
      #expect(fixture.server.live.feed.sequence == sequence + 1)
      // Commits are followed in their order. When the later one was followed, the rename was, too.
      try fixture.change(other, "other.jpg", "another content")
      try await eventually("the picture of the other photo is removed") { files(fixture).count == count }
      fixture.engine.store.waitUntilIdle()
      #expect(fixture.counted.takeCount() == 1, "the revision of the other photo")
      #expect(files(fixture).allSatisfy { kept[$0.key] == $0.value } && fixture.maker.count == made)
      let changed = folders(fixture).filter { places[$0.key] != $0.value }
      #expect(changed.count == 1, "the folder of the other picture")

      // The pictures are those of the renamed photos.
      try await session.request([.frame(1, ids[0]), .frame(2, ids[count - 1])])
      for _ in 0..<2 { #expect(try await session.next().image != nil) }
      #expect(fixture.maker.count == made)
    }
  }
}
