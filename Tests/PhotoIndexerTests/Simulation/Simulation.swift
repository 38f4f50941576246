import Foundation
import Logging
import PhotoLive
import PhotoModel
import PhotoWatch
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

/// One run of a library with a real catalog. The disk, the kernel and photod-watch are simulated in memory. One step
/// follows the other.
final class Simulation {
  let clock = SimulatedClock()
  let disk: SimulatedDisk
  var watcher: SimulatedWatcher
  var library: Library?
  /// The lists of its clients.
  var live: LiveLibrary?
  var catalog: Catalog?
  let folder: String
  var boot = 1
  var roots = ["/pics", "/usb"]
  /// The rules of the configuration about ignored names.
  var rules = WatchRules.nameRules(ignoring: [])
  var oracle = SimulationOracle()
  var removals = RemovalOracle()
  /// Photos that are half written and open in a program.
  var openPhotos: Set<Int> = []
  /// Open photos that were created half written, and when. photod reads them again while they are young, unless it has
  /// lost that state.
  var bornOpen: [Int: Int64] = [:]
  /// Open photos that were empty files before. No event reports that they are not empty any more.
  var untoldPhotos: Set<Int> = []
  /// Photos that no event reports as complete. Time brings them, not a sync.
  var unsaidPhotos: Set<Int> = []
  /// Photos that were saved by a file that the library knows, while the watcher has not read the rename.
  var unreadSaves: [Int: (cookie: UInt64, birthTime: Int64)] = [:]
  /// Photos whose content the library may not know, because another file had their size and time.
  var indistinctPhotos: Set<Int> = []
  /// The drive of each root. Only a person's confirmation changes it.
  var rootVolumes: [String: String] = [:]
  /// Roots that a person has confirmed on another drive. Until the library has found that out, they may be on either.
  var adoptedRoots: Set<String> = []
  var favorites: [AssetID: Bool] = [:]
  var hidden: [AssetID: Bool] = [:]
  var assets: [AssetID: Asset] = [:]
  /// The inode and birth time of each asset's file, as the catalog has them.
  var files: [AssetID: FileIdentity] = [:]
  var sequence: Int64 = 0
  var epoch: Int64 = 0
  var replicas: [Replica] = []
  var sleepers: [SleepingClient] = []
  var resumedCount = 0
  var pendingSync: (number: UInt64, task: Task<Void, any Error>)?
  /// The places that changed since the sync was requested, and whether drives or roots came or went.
  var touchedPlaces: Set<String> = []
  var isOtherDisk = false
  var placements: [Int: SimulationOracle.Placement] = [:]
  /// The files that had several names when they were last written. The write was reported for one of the names only.
  var writtenByLinks: Set<SimulatedDisk.NodeKey> = []
  /// Some writes to the catalog fail.
  var isFull = false
  private(set) var trace: [String] = []
  let keepsTrace: Bool

  struct Replica {
    let options: FetchOptions
    var plan: FetchPlan
    var ids: [AssetID]
    var sequence: Int64
  }

  init(kinds: (main: SimulatedDisk.Kind, usb: SimulatedDisk.Kind), template: String, keepsTrace: Bool) throws {
    self.keepsTrace = keepsTrace
    disk = SimulatedDisk(clock: clock)
    watcher = SimulatedWatcher(disk: disk)
    folder = SimulationFiles.folder + "/photod-simulation-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: template, toPath: folder + "/catalog.sqlite")
    _ = disk.mount(disk.addVolume(kinds.main), at: "")
    for path in ["/pics", "/usb", "/inbox", "/outside"] { _ = disk.makeDirectory(path) }
    let usb = disk.addVolume(kinds.usb)
    clock.pass(seconds)
    let other = disk.addVolume(kinds.usb)
    _ = disk.mount(other, at: "/usb")
    for name in ["a.jpg", "b.jpg"] { _ = disk.write("/usb/" + name, isDone: true) }
    _ = disk.unmount("/usb")
    clock.pass(seconds)
    _ = disk.mount(usb, at: "/usb")
  }

  deinit {
    catalog = nil
    do { try FileManager.default.removeItem(atPath: folder) } catch { print("\(folder) stays: \(error)") }
  }

  /// Ends the calls that still wait.
  func close() async { do { try await end(orderly: false) } catch { note("not closed: \(error)") } }

  /// - Throws: ``SimulationFailure``, or the error of a call that must not fail.
  func run(_ step: SimulatedStep) async throws {
    note("\(step)")
    clock.pass(5 * milliseconds)
    oracle.pass(to: clock.boot)
    switch step {
    case .pass(let count): clock.pass(Int64(count) * milliseconds)
    case .setClock(let days):
      clock.set(by: Int64(days) * 86_400 * seconds)
      oracle.noteClockSet()
    case .watch(let events, let listings): watcher.turn(events: events, listings: listings)
    case .take(let count, let records): try await take(count, records: records)
    case .due: try await due()
    case .overflow:
      disk.overflow()
      oracle.isLossy = true
    case .watchLimit(let limit):
      disk.watchLimit = limit
      oracle.isLossy = true
    case .watcherDies(let count):
      watcher.die(losing: count)
      oracle.isLossy = true
    case .watcherStarts: if library != nil { watcher.begin() }
    case .failWrites(let each): try failWrites(each)
    case .makeRoom: try makeRoom()
    case .kill: try await end(orderly: false)
    case .reboot:
      try await end(orderly: false)
      reboot()
    case .stop: try await end(orderly: true)
    case .start: try await start()
    case .sync: try await startSync()
    case .settle: try await settle()
    case .favorite(let path, let isOn): try await perform(path, isFavorite: isOn)
    case .hide(let path, let isOn): try await perform(path, isHidden: isOn)
    case .roots(let paths): try await setRoots(paths)
    case .ignore(let patterns): try await setIgnored(patterns)
    case .rescan(let path, let confirm): try await rescan(path, confirm: confirm)
    default: change(step)
    }
  }

  /// How often the laws judged something in this run.
  var judgements: SimulationOracle.Judgements {
    var all = oracle.judgements
    all.resumed = resumedCount
    return all
  }

  func note(_ line: @autoclosure () -> String) { if keepsTrace { trace.append(line()) } }
}

/// The folder for the catalogs of simulations, in memory if possible.
enum SimulationFiles {
  static let folder = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
}
