// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import PhotoWatch
import TestPlaces
import Testing
import WatchRecords

/// A real photod-watch over a `Disk`, and the model that its records make.
final class WatchSession {
  let watcher: Watcher
  private var iterator: WatchInputs.Iterator
  private(set) var model = ModelTree()
  private(set) var deaths: [String] = []
  private(set) var records: [WatchRecord] = []
  private var lastSync: UInt64 = 0

  /// Starts it and waits until the first scan is done.
  init(
    roots: [String], ignoring: [String] = [], executable: String? = nil, waiting: Bool = true,
    maximumWaitingFrames: Int = 64, patterns: [String] = [], longestSilence: Duration = .seconds(30)
  ) async throws {
    let numbered = roots.enumerated().map { WatchRoot(number: UInt16($0 + 1), path: Array($1.utf8)) }
    watcher = Watcher(
      configuration: Watcher.Configuration(
        roots: numbered, extensions: [Array("jpg".utf8), Array("heic".utf8)],
        ignoredDirectoryNames: ignoring.map { Array($0.utf8) }, ignoredPatterns: patterns.map { Array($0.utf8) },
        executable: try executable ?? WatchSession.builtExecutable(), maximumWaitingFrames: maximumWaitingFrames,
        longestSilence: longestSilence),
      logger: Logger(label: "test"))
    setenv("PHOTOD_WATCH_CHECKS", "1", 1)
    iterator = watcher.inputs.makeAsyncIterator()
    await InotifyPlaces.shared.enter()
    try watcher.start()
    if waiting { try await sync() }
  }

  deinit { InotifyPlaces.shared.leave() }

  /// photod-watch beside the running test bundle.
  static func builtExecutable() throws -> String {
    for argument in CommandLine.arguments + [linkTarget("/proc/self/exe")] {
      var path = argument
      while let slash = path.lastIndex(of: "/") {
        path = String(path[..<slash])
        if access(path + "/photod-watch", X_OK) == 0 {
          var look = stat()
          if stat(path + "/photod-watch", &look) == 0, look.st_mode & S_IFMT == S_IFREG {
            return path + "/photod-watch"
          }
        }
      }
    }
    throw MissingExecutable()
  }

  struct MissingExecutable: Error {}
  struct Ended: Error {}

  private static func linkTarget(_ path: String) -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink(path, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
  }

  /// All that happened until now is in the model afterwards.
  /// - returns: what was said since the last call.
  @discardableResult
  func sync() async throws -> [WatchRecord] {
    lastSync += 1
    watcher.sync(number: lastSync)
    return try await take { $0 == .synced(number: self.lastSync) }
  }

  /// Takes inputs until one record fulfils the condition.
  @discardableResult
  func take(until condition: (WatchRecord) -> Bool) async throws -> [WatchRecord] {
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
  func takeInput() async throws -> WatchInput {
    guard let input = await iterator.next() else { throw Ended() }
    model.apply(input)
    if case .died(_, let reason) = input { deaths.append(reason) }
    return input
  }

  /// The model against an independent walk of the disk.
  func expectTruth(
    _ tops: [String], _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var files: [[UInt8]: Disk.Truth] = [:]
    var directories: Set<[UInt8]> = []
    for top in tops {
      let walked = Disk.walk(top)
      files.merge(walked.files) { $1 }
      directories.formUnion(walked.directories)
    }
    let known = model.files.filter { $0.value.byteCount > 0 }.mapValues(Disk.Truth.init)
    let missing = files.filter { known[$0.key] == nil }.map { String(decoding: $0.key, as: UTF8.self) }
    let extra = known.filter { files[$0.key] == nil }.map { String(decoding: $0.key, as: UTF8.self) }
    let other = files.filter { known[$0.key] != nil && known[$0.key] != $0.value }
      .map { String(decoding: $0.key, as: UTF8.self) }
    #expect(missing.isEmpty, comment, sourceLocation: sourceLocation)
    #expect(extra.isEmpty, comment, sourceLocation: sourceLocation)
    #expect(other.isEmpty, comment, sourceLocation: sourceLocation)
    let unknown = directories.subtracting(model.directoryPaths).map { String(decoding: $0, as: UTF8.self) }
    let vanished = model.directoryPaths.subtracting(directories).map { String(decoding: $0, as: UTF8.self) }
    #expect(unknown.isEmpty, comment, sourceLocation: sourceLocation)
    #expect(vanished.isEmpty, comment, sourceLocation: sourceLocation)
    #expect(model.violations.isEmpty, comment, sourceLocation: sourceLocation)
  }
}
