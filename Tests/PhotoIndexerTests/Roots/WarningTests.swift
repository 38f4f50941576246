import Foundation
import Logging
import PhotoCatalog
import PhotoLive
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing
import WatchRecords

@testable import PhotoIndexer

/// The status text for one folder, and for several.
@Suite struct WarningTests {
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func warningAboutOneUnreadableFolderIsInTheSingular() async throws {
    let fixture = try LibraryFixture()
    try await fixture.begin()
    await fixture.take([.unreadable(directory: 1, name: Self.bytes("x"), errorNumber: 13)])
    #expect(
      fixture.library.statusStore.status.warnings == [
        "1 folder or file can't be read: /pics/x (Permission denied). Its data in the library is kept. "
          + "Correct the permissions. photod notices that by itself."
      ])
    await fixture.take([.unreadable(directory: 1, name: Self.bytes("y"), errorNumber: 5)])
    #expect(
      fixture.library.statusStore.status.warnings == [
        "2 folders or files can't be read, the first is /pics/x (Permission denied). Their data in the library is "
          + "kept. Correct the permissions. photod notices that by itself."
      ])
  }

  @Test func warningAboutOneFailingFileIsInTheSingular() async throws {
    let fixture = try LibraryFixture()
    await fixture.library.fail(["/pics/a.jpg"])
    #expect(
      fixture.library.statusStore.status.warnings == [
        "1 file can't be read: /pics/a.jpg: Input/output error. photod tries again by itself. If this continues, check the disk."
      ])
    await fixture.library.fail(["/pics/a.jpg", "/pics/b.jpg"])
    #expect(
      fixture.library.statusStore.status.warnings == [
        "2 files can't be read, the first is /pics/a.jpg: Input/output error. photod tries again by "
          + "itself. If this continues, check the disk."
      ])
  }

  @Test func numbersInWarningsAreGrouped() {
    let path = Self.bytes("/p")
    let budget = WatchBudget(
      watched: 65_000, allowed: 65_000, limit: 65_536, isNamespaceLimit: false, isRefused: false, instanceError: 0)
    for warning in [
      Warning.unreadable(first: path, errorNumber: 13, count: 12_345),
      .failingFiles(first: path, reason: "why", count: 12_345), .sharesLeftOut(first: path, count: 12_345),
      .watchesExhausted(folderCount: 12_345, budget),
    ] {
      #expect(warning.text.hasPrefix("12,345 "), "\(warning.text)")
    }
    // The setting is pasted into a shell, so its number is not grouped.
    let text = Warning.watchesExhausted(folderCount: 12_345, budget).text
    #expect(
      text.contains("has 65,000 inotify watches, its share of the 65,536 ") && text.contains("=524288"), "\(text)")
  }

  @Test func aCommandInAWarningCanBePastedIntoAShell() {
    let text = Warning.rootUnconfigured(Self.bytes("/home/a/Mum's photos"), isEmpty: false).text
    #expect(text.contains(#"`photoctl rescan '/home/a/Mum'\''s photos' --confirm`"#), "\(text)")
  }

  /// The kernel's limit is logged after the folders that have no watch.
  @Test func exhaustedWatchesAreLoggedOnceWithTheLimit() async throws {
    let log = KeptLog()
    let fixture = try LibraryFixture(log: log)
    let budget = WatchBudget(
      watched: 15, allowed: 15, limit: 20, isNamespaceLimit: true, isRefused: false, instanceError: 0)
    await fixture.library.noteWatchState { $0.note(polled: 3, because: .watchLimit, of: 18, in: 1) }
    await fixture.library.noteWatchState { $0.note(budget) }
    await fixture.library.noteWatchState { $0.note(polled: 4, because: .watchLimit, of: 19, in: 1) }
    await fixture.library.noteWatchState { $0.note(budget) }
    #expect(log.lines.kept.withLock { $0 } == ["watches exhausted limit=20 polled=3"])
    await fixture.library.updateState()
    let said = try #require(fixture.library.statusStore.status.warnings.first)
    #expect(
      said.contains(
        "`sudo sysctl user.max_inotify_watches=524288`, and for the next boot with "
          + "`echo user.max_inotify_watches=524288 | sudo tee -a /etc/sysctl.d/60-photod.conf`."))
  }

  @Test(arguments: [1, 2]) func foldersThatArePolledAreCounted(count: Int) async throws {
    let fixture = try LibraryFixture()
    let polled = UInt32(count)
    await fixture.library.noteWatchState {
      $0.note(polled: polled, because: .fileSystem(name: Self.bytes("nfs4")), of: 9, in: 1)
    }
    await fixture.library.updateState()
    let said = try #require(fixture.library.statusStore.status.warnings.first)
    #expect(
      said.hasPrefix(
        count == 1
          ? "1 folder is polled every few seconds: it is on nfs4,"
          : "2 folders are polled every few seconds: they are on nfs4,"))
  }
}

/// Keeps the log lines as `message key=value`.
struct KeptLog: LogHandler {
  final class Lines: Sendable {
    let kept = Mutex<[String]>([])
  }

  let lines = Lines()
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let data = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
    lines.kept.withLock { $0.append("\(event.message)" + data.joined()) }
  }
}

/// A library over a disk in memory, with one root. The library does not run; tests send the inputs.
final class LibraryFixture {
  let clock = SimulatedClock()
  let disk: SimulatedDisk
  let library: Library
  private let folder: String

  init(innerRoots: [String] = [], log: any LogHandler = SwiftLogNoOpLogHandler()) throws {
    folder = SimulationFiles.folder + "/photod-library-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    disk = SimulatedDisk(clock: clock)
    _ = disk.mount(disk.addVolume(.ext4), at: "")
    _ = disk.makeDirectory("/pics")
    let catalog = try Catalog(path: folder + "/catalog.sqlite")
    library = try Library(
      catalog: catalog, commits: try LiveLibrary(catalog: catalog), watcher: SimulatedWatcher(disk: disk), files: disk,
      clock: clock,
      configuration: .init(
        roots: [Array("/pics".utf8)], innerRoots: innerRoots.map { Array($0.utf8) }, version: "0"),
      logger: Logger(label: "test") { _ in log })
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) }
  }

  /// Scans the root, which is empty.
  func begin() async throws {
    try await library.adoptRoots()
    let key = try #require(disk.resolve("/pics"))
    await take([
      .scanStarted(root: 1, request: 0, reason: .start),
      .directoryFound(number: 1, parent: 0, root: 1, name: [], identity: disk.identity(key)),
      .listingStarted(number: 1, evidence: .scan), .listingEnded(number: 1, complete: true),
      .scanEnded(root: 1, request: 0, complete: true),
    ])
  }

  func take(_ records: [WatchRecord]) async {
    await library.simulateTake(await library.read(ahead: .batch(records)))
  }
}

extension Library {
  /// Simulates that the disk fails to read these files and no others.
  fileprivate func fail(_ paths: [String]) {
    reconciler.retries = ReadRetries()
    for (index, path) in paths.enumerated() {
      reconciler.retries.addFailing(
        AssetID(index), on: VolumeID(rawValue: 1), path: Array(path.utf8), reason: "Input/output error", since: 0,
        date: WallTime(seconds: 1))
    }
    updateState()
  }
}
