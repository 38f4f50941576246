// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import PhotoWatch
import TestTools
import WatchRecords

/// The environment "real inotify": a real photod-watch that watches a `Disk`, and the model built from its records.
package final class WatchSession {
  package let watcher: Watcher
  package private(set) var model = ModelTree()
  package private(set) var deaths: [String] = []
  package private(set) var startCount = 0
  package private(set) var records: [WatchRecord] = []
  private var lastSync: UInt64 = 0

  /// Starts photod-watch and waits for the end of the first scan.
  package init(
    roots: [String], ignoring: [String] = [], executable: String? = nil, waiting: Bool = true,
    maximumWaitingFrames: Int = 64, patterns: [String] = [], longestSilence: Duration = .seconds(30),
    place: Watcher.Place = .anywhere, pollSeconds: [UInt32] = []
  ) async throws {
    let numbered = roots.enumerated().map { index, path in
      WatchRoot(
        number: UInt16(index + 1), path: Array(path.utf8),
        pollSeconds: index < pollSeconds.count ? pollSeconds[index] : 0)
    }
    watcher = Watcher(
      configuration: Watcher.Configuration(
        roots: numbered, extensions: [Array("jpg".utf8), Array("heic".utf8)],
        ignoredDirectoryNames: ignoring.map { Array($0.utf8) }, ignoredPatterns: patterns.map { Array($0.utf8) },
        executable: executable ?? BuiltPrograms.path("photod-watch"), maximumWaitingFrames: maximumWaitingFrames,
        longestSilence: longestSilence, place: place),
      logger: Logger(label: "test"))
    setenv("PHOTOD_WATCH_CHECKS", "1", 1)
    await InotifyPlaces.shared.enter()
    try watcher.start()
    if waiting { try await sync() }
  }

  deinit { InotifyPlaces.shared.leave() }

  package struct Ended: Error {}

  /// Waits until the model includes all changes up to now.
  ///
  /// - Returns: The records since the last call.
  @discardableResult
  package func sync() async throws -> [WatchRecord] {
    lastSync += 1
    watcher.sync(number: lastSync)
    return try await take { $0 == .synced(number: self.lastSync) }
  }

  /// Takes inputs until a record fulfils the condition.
  @discardableResult
  package func take(until condition: (WatchRecord) -> Bool) async throws -> [WatchRecord] {
    var said: [WatchRecord] = []
    while true {
      let input = try await takeInput()
      guard case .batch(let batch) = input else { continue }
      said += batch
      if batch.contains(where: condition) {
        records += said
        return said
      }
    }
  }

  @discardableResult
  package func takeInput() async throws -> WatchInput {
    guard let input = await watcher.nextInput() else { throw Ended() }
    model.apply(input)
    switch input {
    case .started: startCount += 1
    case .died(_, let reason): deaths.append(reason)
    default: break
    }
    return input
  }
}
