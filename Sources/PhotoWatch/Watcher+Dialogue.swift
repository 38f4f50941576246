// SPDX-License-Identifier: Apache-2.0

import Glibc
import WatchRecords
import WorkerProcess

// The exchange with photod-watch, on the worker's thread.
extension Watcher: WorkerDialogue {
  package var isFull: Bool { channel.isFull }

  /// It sends something every ten seconds in any case.
  package var expectsWords: Bool { true }

  /// Sends a new photod-watch everything that an earlier one may have known.
  package func begin(session: Int) -> [UInt8] {
    assembler.withLock { $0 = FrameAssembler() }
    var bytes = WatchStream.greeting
    state.withLock { state in
      bytes += WatchStream.frame(beginOrder)
      bytes += WatchStream.frame(configureOrder(state.ignoredPatterns))
      state.isConnected = true
      state.orders = state.roots.map { .addRoot(root: $0.number, path: $0.path) }
      for (request, root) in state.openRescans.sorted(by: { $0.key < $1.key }) {
        state.orders.append(.rescan(root: root, directory: nil, request: request))
      }
      for number in state.openSyncs { state.orders.append(.sync(number: number)) }
      if state.isSilent { state.unannounced = session } else { announce(session, &state) }
    }
    return bytes
  }

  private var beginOrder: WatchOrder {
    .begin(
      firstNumber: DirectoryNumber(lane) << 40 + 1, watchPercent: configuration.place == .share ? 5 : 75,
      refusesShares: configuration.place == .drives)
  }

  private func announce(_ session: Int, _ state: inout State) {
    state.unannounced = nil
    state.isSilent = false
    channel.add(.started(session: session))
  }

  package func takeOutgoing() -> [UInt8] {
    state.withLock { state in
      defer { state.orders = [] }
      return state.orders.flatMap { WatchStream.frame($0) }
    }
  }

  package func hear(_ bytes: UnsafeRawBufferPointer) -> String? {
    do {
      return try assembler.withLock { assembler in
        assembler.append(bytes)
        while let payload = try assembler.next() { take(try WatchStream.records(in: payload)) }
        return nil
      }
    } catch {
      return "it said what can't be understood (\(error))"
    }
  }

  private func take(_ said: [WatchRecord]) {
    state.withLock { state in
      if let session = state.unannounced { announce(session, &state) }
      var records: [WatchRecord] = []
      records.reserveCapacity(said.count)
      for record in said where isNews(record, &state) { records.append(record) }
      if !records.isEmpty { channel.add(.batch(records)) }
    }
  }

  private func isNews(_ record: WatchRecord, _ state: inout State) -> Bool {
    switch record {
    case .alive: return false
    case .synced(let number):
      // Otherwise it was answered while the share was silent.
      guard let position = state.openSyncs.firstIndex(of: number) else { return configuration.place != .share }
      state.openSyncs.remove(at: position)
    case .scanEnded(_, let request, _) where request != 0: state.openRescans[request] = nil
    default: break
    }
    return true
  }

  package func note(complaint line: String) {
    logger.warning("photod-watch says", metadata: ["line": "\(line)"])
  }

  package func end(session: Int, reason: String, isSilent: Bool) {
    logger.error("photod-watch died", metadata: ["reason": "\(reason)", "session": "\(session)"])
    state.withLock { state in
      disconnect(&state)
      // While a share is silent, only the first end is reported.
      if !state.isSilent { channel.add(.died(session: session, reason: reason)) }
      guard configuration.place == .share, isSilent else { return }
      var records = answers(&state)
      if !state.isSilent {
        state.isSilent = true
        records += state.roots.map { .rootOffline(root: $0.number, errorNumber: ETIMEDOUT) }
      }
      if !records.isEmpty { channel.add(.batch(records)) }
    }
  }

  package func finish() {
    state.withLock { state in
      disconnect(&state)
      // From now on, there are no answers.
      state.isSilent = true
      let records = answers(&state)
      if !records.isEmpty { channel.add(.batch(records)) }
    }
    channel.finish()
  }

  private func disconnect(_ state: inout State) {
    state.isConnected = false
    state.orders = []
    state.unannounced = nil
  }

  /// Returns an end for each waiting rescan and sync.
  private func answers(_ state: inout State) -> [WatchRecord] {
    defer { (state.openRescans, state.openSyncs) = ([:], []) }
    return state.openRescans.sorted { $0.key < $1.key }
      .map { .scanEnded(root: $0.value, request: $0.key, complete: false) }
      + state.openSyncs.map { .synced(number: $0) }
  }
}
