// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import Synchronization
import WatchRecords

/// Starts photod-watch, reads what it says, starts it again when it dies. All of that happens on one thread of its own
/// (`WatcherThread`); the calls here leave an order and wake it.
package final class Watcher: WatchSource {
  package struct Configuration: Sendable {
    package var roots: [WatchRoot]
    /// Of the files that are said: lower-case ASCII without the dot.
    package var extensions: [[UInt8]]
    /// Directories of these names are not entered, like hidden ones.
    package var ignoredDirectoryNames: [[UInt8]]
    /// What the configuration ignores (`IgnorePattern`), until `setIgnoredPatterns`.
    package var ignoredPatterns: [[UInt8]]
    /// nil: as `WatchExecutable.find()` says.
    package var executable: String?
    /// Frames that wait for the consumer before the socket is no longer read; a frame is at most about 1,000 records.
    package var maximumWaitingFrames: Int
    /// A photod-watch that says nothing for so long, while we read, hangs: it is killed and another started. It says
    /// something every ten seconds.
    package var longestSilence: Duration

    package init(
      roots: [WatchRoot], extensions: [[UInt8]], ignoredDirectoryNames: [[UInt8]] = [],
      ignoredPatterns: [[UInt8]] = [], executable: String? = nil, maximumWaitingFrames: Int = 64,
      longestSilence: Duration = .seconds(30)
    ) {
      self.roots = roots
      self.extensions = extensions
      self.ignoredDirectoryNames = ignoredDirectoryNames
      self.ignoredPatterns = ignoredPatterns
      self.executable = executable
      self.maximumWaitingFrames = maximumWaitingFrames
      self.longestSilence = longestSilence
    }
  }

  /// What callers leave for the thread.
  struct Wishes {
    var orders: [WatchOrder] = []
    var roots: [WatchRoot]
    var ignoredPatterns: [[UInt8]]
    /// Not answered yet: asked again of a photod-watch that follows a dead one.
    var openSyncs: [UInt64] = []
    var openRescans: [UInt32: UInt16] = [:]
    var lastRequest: UInt32 = 0
    /// A photod-watch runs and has its roots: orders can be given to it.
    var isConnected = false
    var isStopping = false
    var isStarted = false
    var hasEnded = false
    var processID: pid_t?
    var stopWaiters: [CheckedContinuation<Void, Never>] = []
  }

  let configuration: Configuration
  let logger: Logger
  let wishes: Mutex<Wishes>
  let channel: InputChannel
  let wakeup: Wakeup

  package init(configuration: Configuration, logger: Logger) {
    self.configuration = configuration
    self.logger = logger
    wishes = Mutex(Wishes(roots: configuration.roots, ignoredPatterns: configuration.ignoredPatterns))
    let wakeup = Wakeup()
    self.wakeup = wakeup
    channel = InputChannel(capacity: max(configuration.maximumWaitingFrames, 1)) { wakeup.signal() }
  }

  package var inputs: WatchInputs { WatchInputs(channel: channel) }

  package func nextInput() async -> WatchInput? { await channel.next() }

  /// Of the photod-watch that runs now, if one does.
  package var processID: pid_t? { wishes.withLock { $0.processID } }

  package func start() throws {
    let executable = try configuration.executable ?? WatchExecutable.find()
    try wakeup.open()
    let isFirst = wishes.withLock { wishes in
      defer { wishes.isStarted = true }
      return !wishes.isStarted
    }
    guard isFirst else { return }
    let thread = WatcherThread(watcher: self, executable: executable)
    do {
      try thread.start()
    } catch {
      wishes.withLock { $0.isStarted = false }
      throw error
    }
  }

  @discardableResult
  package func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32 {
    let request = wishes.withLock { wishes in
      wishes.lastRequest += 1
      wishes.openRescans[wishes.lastRequest] = root
      if wishes.isConnected {
        wishes.orders.append(.rescan(root: root, directory: directory, request: wishes.lastRequest))
      }
      return wishes.lastRequest
    }
    wakeup.signal()
    return request
  }

  package func sync(number: UInt64) {
    wishes.withLock { wishes in
      wishes.openSyncs.append(number)
      if wishes.isConnected { wishes.orders.append(.sync(number: number)) }
    }
    wakeup.signal()
  }

  package func setRoots(_ roots: [WatchRoot]) {
    wishes.withLock { wishes in
      if wishes.isConnected {
        let before = Set(wishes.roots)
        let after = Set(roots)
        for root in wishes.roots where !after.contains(root) { wishes.orders.append(.removeRoot(root: root.number)) }
        for root in roots where !before.contains(root) {
          wishes.orders.append(.addRoot(root: root.number, path: root.path))
        }
      }
      wishes.roots = roots
    }
    wakeup.signal()
  }

  package func setIgnoredPatterns(_ patterns: [[UInt8]]) {
    wishes.withLock { wishes in
      guard wishes.ignoredPatterns != patterns else { return }
      wishes.ignoredPatterns = patterns
      if wishes.isConnected { wishes.orders.append(configureOrder(patterns)) }
    }
    wakeup.signal()
  }

  func configureOrder(_ ignoredPatterns: [[UInt8]]) -> WatchOrder {
    .configure(
      extensions: configuration.extensions, ignoredDirectoryNames: configuration.ignoredDirectoryNames,
      ignoredPatterns: ignoredPatterns)
  }

  package func stop() async {
    await withCheckedContinuation { continuation in
      let isOver = wishes.withLock { wishes in
        wishes.isStopping = true
        guard wishes.isStarted, !wishes.hasEnded else { return true }
        wishes.stopWaiters.append(continuation)
        return false
      }
      if isOver {
        channel.finish()
        continuation.resume()
      } else {
        wakeup.signal()
      }
    }
  }
}

/// Wakes the watcher's thread out of poll(2).
final class Wakeup: Sendable {
  /// Reading and writing end; -1 until `open`. Closed with the watcher, which the thread holds.
  private let ends = Mutex<(read: Int32, write: Int32)>((-1, -1))

  func open() throws {
    try ends.withLock { ends in
      guard ends.read < 0 else { return }
      let pair = try makeSocketPair(nonBlocking: true)
      ends = (pair[0], pair[1])
    }
  }

  deinit {
    ends.withLock { ends in
      guard ends.read >= 0 else { return }
      close(ends.read)
      close(ends.write)
    }
  }

  var descriptor: Int32 { ends.withLock { $0.read } }

  /// A full buffer is as good: the thread is awake then.
  func signal() {
    ends.withLock { ends in
      guard ends.write >= 0 else { return }
      var byte: UInt8 = 1
      while write(ends.write, &byte, 1) < 0, errno != EAGAIN {
        // No memory for one byte: without it the thread would sleep on, whatever it was to do.
        if errno != EINTR { usleep(1000) }
      }
    }
  }

  func drain() {
    var bytes = [UInt8](repeating: 0, count: 256)
    let descriptor = self.descriptor
    while read(descriptor, &bytes, bytes.count) > 0 {}
  }
}
