import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

/// A small library, everyday changes to it while calls fail, and the facts that must hold after the failures.
///
/// The scenario knows which file is which photo: an edited, saved or renamed file keeps its id.
final class FaultScenario {
  /// The measure after which the library equalled the disk.
  enum Recovery: Int, Comparable {
    /// The first sync was enough.
    case atOnce
    /// The library recovered without help a little later.
    case byItself
    case byRescan, byRestart, never

    static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
  }

  let fixture: DaemonFixture
  private var round = 0
  /// The ids of the photos by their present path. A photo is the same as before if a person would say so.
  private(set) var known: [String: AssetID] = [:]
  private var favorites: Set<AssetID> = []
  /// The errors that clients received.
  var errorsAnswered: [String] = []
  /// Photos whose call ended without an answer. The change may have been made or not.
  private var unsure: Set<AssetID> = []
  /// The metadata of each file, by its name. All files without an entry are ``DaemonFixture/photo(_:)``.
  private var facts: [String: Facts] = [:]

  struct Facts: Equatable {
    let contentType: String
    let width: Int?
    let camera: Camera?
    let date: PhotoDate?

    init(_ asset: Asset) {
      contentType = asset.resources[0].contentType
      width = asset.pixelWidth
      camera = asset.camera
      date = asset.creationDateSource == .metadata ? asset.creationDate : nil
    }
  }

  /// Creates the library's files: two folders, with real photos if there are some.
  init(_ fixture: DaemonFixture) throws {
    self.fixture = fixture
    let names = ["a/edited.jpg", "a/saved.jpg", "a/moved-0.jpg", "a/gone-0.jpg", "b/kept.jpg", "b/d-0/x.jpg"]
    for (index, name) in names.enumerated() { try fixture.write(name, -index - 1) }
    for (index, photo) in Self.realPhotos.enumerated() {
      let data = try Data(contentsOf: photo)
      try data.write(to: URL(fileURLWithPath: fixture.path("b/real-\(index).\(photo.pathExtension)")))
    }
  }

  /// The folder of real photos, which are not a part of the project. nil if it does not exist.
  static let photosFolder: URL? = {
    let package = SourceTree.package
    let named = ProcessInfo.processInfo.environment["PHOTOD_TEST_PHOTOS"].map { URL(fileURLWithPath: $0) }
    let folder = named ?? package.deletingLastPathComponent().appendingPathComponent("shared/photos")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  private static let realPhotos: [URL] = {
    guard let folder = photosFolder else { return [] }
    return [
      "immich-app__test-assets/metadata/dates/gps-datetime.jpg", "immich-app__test-assets/metadata/tags/picasa.jpg",
      "immich-app__test-assets/formats/png/density_plot.png",
      "immich-app__test-assets/albums/nature/polemonium_reptans.jpg",
      "Exiv2__exiv2/test/data/exiv2-nikon-e990.jpg", "Exiv2__exiv2/test/data/exiv2-bug922.tif",
    ].map { folder.appendingPathComponent($0) }.filter { FileManager.default.fileExists(atPath: $0.path) }
  }()

  // MARK: Everyday changes

  /// Files come, move, change and go, in place, through other files, and with their folders. One photo becomes a
  /// favorite, or stops being one. Calls may fail, and their answers are recorded.
  func performChanges() async throws {
    round += 1
    try fixture.write("a/new-\(round).jpg", 10 * round)
    try move("a/moved-\(round - 1).jpg", "a/moved-\(round).jpg")
    try fixture.write("a/edited.jpg", 10 * round + 1)
    try fixture.write("a/.saving", 10 * round + 2)
    try fixture.move("a/.saving", "a/saved.jpg")
    try fixture.write("b/c-\(round)/new.jpg", 10 * round + 3)
    try move("b/d-\(round - 1)/x.jpg", "b/d-\(round - 1)/y.jpg")
    try move("b/d-\(round - 1)", "b/d-\(round)")
    try move("b/d-\(round)/y.jpg", "b/d-\(round)/x.jpg")
    try fixture.write("a/gone-\(round).jpg", 10 * round + 4)
    try remove("a/gone-\(round - 1).jpg")
    if round > 2 {
      try remove("b/c-\(round - 2)/new.jpg")
      #expect(rmdir(fixture.path("b/c-\(round - 2)")) == 0)
      try remove("a/new-\(round - 2).jpg")
    }
    for name in ["b/kept.jpg", "a/edited.jpg"] { await toggleFavorite(name) }
    await query()
  }

  /// Repeats ``performChanges()`` until a fault has struck. One turn may make fewer calls than the turn that was counted, and
  /// photod may make them after the turn.
  func performChanges(until hasStruck: () -> Bool) async throws {
    for _ in 0..<4 {
      try await performChanges()
      if hasStruck() { return }
      do {
        let fixture = fixture
        _ = try await within(.seconds(20)) { try await fixture.synchronize(timeout: 10) }
      } catch {
        errorsAnswered.append("\(error)")
      }
      await query()
      if hasStruck() { return }
    }
  }

  private func move(_ from: String, _ to: String) throws {
    try fixture.move(from, to)
    noteMove(from, to)
  }

  /// Records the rename of a file, or of a folder with everything in it.
  func noteMove(_ from: String, _ to: String) {
    let (old, new) = (fixture.path(from), fixture.path(to))
    for (path, id) in known where path == old || path.hasPrefix(old + "/") {
      known[path] = nil
      known[new + path.dropFirst(old.count)] = id
    }
  }

  private func remove(_ name: String) throws {
    try #require(unlink(fixture.path(name)) == 0)
    known[fixture.path(name)] = nil
  }

  private func toggleFavorite(_ name: String) async {
    guard let id = known[fixture.path(name)], !unsure.contains(id) else { return }
    do {
      let fixture = fixture
      let wanted = !favorites.contains(id)
      _ = try await within(.seconds(10)) { try await fixture.setFavorite([id], wanted) }
      if favorites.remove(id) == nil { favorites.insert(id) }
    } catch let error as VarlinkError {
      // The call was answered with an error, so nothing was changed.
      errorsAnswered.append("\(error)")
    } catch {
      unsure.insert(id)
    }
  }

  /// Queries the favorites. An answer must be true, whatever fails.
  private func query() async {
    do {
      let fixture = fixture
      let found = try await within(.seconds(10)) {
        Set(try await fixture.assets(FetchOptions(collection: "smart:favorites")).map(\.id))
      }
      #expect(found.subtracting(unsure) == favorites.subtracting(unsure), "round \(round)")
    } catch {
      // An error is allowed, because it is not a wrong answer.
      errorsAnswered.append("\(error)")
    }
  }

  // MARK: Checks

  /// Waits until the library equals the disk, and tries the mildest measure first.
  func recover() async -> (Recovery, warnings: [String]) {
    var warnings: [String] = []
    let fixture = fixture
    for recovery in [Recovery.atOnce, .byItself, .byRescan, .byRestart] {
      do {
        if recovery == .byRestart {
          fixture.kill(SIGKILL)
          try await fixture.start()
        }
        if recovery == .byRescan {
          struct Reply: Decodable {}
          _ = try await within(.seconds(20)) { try await fixture.call("Rescan", returning: Reply.self) }
        }
        if recovery == .byItself {
          // If photod has no library at present, it tries every few seconds to open one.
          let mayPass: (any Error) -> Bool = { !($0 is TookTooLong) }
          try await eventually(
            "the library equals the disk", within: .seconds(60), every: .milliseconds(100), isNotYet: mayPass
          ) { try await differenceAfterSync() == nil }
          return (recovery, warnings)
        }
        guard let difference = try await differenceAfterSync() else { return (recovery, warnings) }
        if recovery == .atOnce { warnings = [difference] + (try await fixture.status().warnings) }
      } catch {
        warnings.append("\(recovery): \(error)")
      }
    }
    return (.never, warnings)
  }

  private func differenceAfterSync() async throws -> String? {
    let fixture = fixture
    _ = try await within(.seconds(40)) { try await fixture.synchronize(timeout: 30) }
    return try await difference()
  }

  /// Describes a difference between the library and the disk, or returns nil. Favorites and identities are compared
  /// too.
  func difference() async throws -> String? {
    let assets = try await fixture.assets()
    let library = Dictionary(grouping: assets, by: { $0.resources[0].path })
    let disk = try filesOnDisk()
    for (path, stat) in disk {
      guard let asset = library[path]?.first else { return "\(path) is missing" }
      guard library[path]?.count == 1 else { return "\(path) is there twice" }
      if asset.resources[0].byteCount != Int64(stat.st_size) { return "\(path) has another size" }
      let modified = Int64(stat.st_mtim.tv_sec) * 1_000_000 + Int64(stat.st_mtim.tv_nsec) / 1000
      if asset.modificationDate.microseconds != modified { return "\(path) has another date" }
      if !asset.available { return "\(path) is not available" }
      let name = asset.resources[0].filename
      if let expected = facts[name.hasPrefix("real-") ? name : ""], expected != Facts(asset) {
        return "\(path) says \(Facts(asset)) instead of \(expected)"
      }
    }
    for path in library.keys where disk[path] == nil { return "\(path) is not on disk" }
    return nil
  }

  /// After the recovery: no photo has become another one, and acknowledged changes are there.
  func expectDiskState(_ comment: String) async throws {
    let assets: [Asset]
    do {
      assets = try await fixture.assets()
    } catch is VarlinkError {
      // The armed fault may fire only now.
      assets = try await fixture.assets()
    }
    let now = Dictionary(assets.map { ($0.resources[0].path, $0.id) }) { first, _ in first }
    for (path, id) in known { #expect(now[path] == id, "\(path) is another photo; \(comment)") }
    known = now
    let found = Set(assets.filter(\.isFavorite).map(\.id))
    #expect(found.subtracting(unsure) == favorites.subtracting(unsure), "the favorites; \(comment)")
    #expect(found.isSubset(of: favorites.union(unsure)), "a favorite that no client set; \(comment)")
    favorites = found
    unsure = []
    guard facts.isEmpty else { return }
    for asset in assets {
      let name = asset.resources[0].filename
      facts[name.hasPrefix("real-") ? name : ""] = Facts(asset)
    }
  }

  private func filesOnDisk() throws -> [String: stat] {
    var found: [String: stat] = [:]
    let walk = try #require(FileManager.default.enumerator(atPath: fixture.photos))
    for case let name as String in walk where !name.hasPrefix(".") && !name.contains("/.") {
      var status = stat()
      try #require(lstat(fixture.path(name), &status) == 0)
      if status.st_mode & S_IFMT == S_IFREG { found[fixture.path(name)] = status }
    }
    return found
  }
}

/// Thrown if a call does not end. Otherwise the call would block the test.
struct TookTooLong: Error {}

/// - Throws: ``TookTooLong``, or the errors of `body`.
func within<Value: Sendable>(
  _ time: Duration, _ body: @escaping () async throws -> Value
) async throws -> Value {
  nonisolated(unsafe) let body = body
  return try await withThrowingTaskGroup(of: Value.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: time)
      throw TookTooLong()
    }
    defer { group.cancelAll() }
    guard let first = try await group.next() else { throw TookTooLong() }
    return first
  }
}
