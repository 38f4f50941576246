// SPDX-License-Identifier: Apache-2.0

import Glibc
import WatchRecords
import WorkerProcess

// The exchange with photod-watch, on the worker's thread.
extension Watcher: WorkerDialogue {
  package var isFull: Bool { channel.isFull }

  /// It sends something every ten seconds in any case.
  package var expectsOutput: Bool { true }

  /// Sends a new photod-watch everything that an earlier one may have known.
  package func begin(session: Int) -> [UInt8] {
    assembler.withLock { $0 = FrameAssembler() }
    var bytes = WatchStream.greeting
    state.withLock { state in
      bytes += WatchStream.frame(beginOrder)
      bytes += WatchStream.frame(configureOrder(state.ignoredPatterns))
      state.isConnected = true
      state.orders = state.roots.map { .addRoot(root: $0.number, path: $0.path) }
      for root in state.roots where root.pollSeconds > 0 {
        state.orders.append(.setPollInterval(root: root.number, seconds: root.pollSeconds))
      }
      for (request, root) in state.openRescans.sorted(by: { $0.key < $1.key }) {
        state.orders.append(.rescan(root: root, directory: nil, request: request))
      }
      for number in state.openSyncs { state.orders.append(.sync(number: number)) }
      if state.presence.isSilent {
        state.presence = .silent(unannounced: session)
      } else {
        announce(session, &state)
      }
    }
    return bytes
  }

  private var beginOrder: WatchOrder {
    .begin(
      firstNumber: DirectoryNumber(lane) << 40 + 1, watchPercent: configuration.place == .share ? 5 : 75,
      refusesShares: configuration.place == .drives)
  }

  private func announce(_ session: Int, _ state: inout State) {
    state.presence = .answers
    channel.add(.started(session: session))
  }

  package func takeOutgoing() -> [UInt8] {
    state.withLock { state in
      defer { state.orders = [] }
      return state.orders.flatMap { WatchStream.frame($0) }
    }
  }

  package func receive(_ bytes: UnsafeRawBufferPointer) -> String? {
    do {
      return try assembler.withLock { assembler in
        assembler.append(bytes)
        while let payload = try assembler.next() { take(try WatchStream.records(in: payload)) }
        return nil
      }
    } catch {
      return "it sent an invalid record (\(error))"
    }
  }

  private func take(_ received: [WatchRecord]) {
    state.withLock { state in
      switch state.presence {
      case .answers, .silent(unannounced: nil): break
      case .late: state.presence = .answers
      case .silent(let session?): announce(session, &state)
      }
      var records: [WatchRecord] = []
      records.reserveCapacity(received.count)
      var checkpoint: UInt32?
      for record in received {
        if case .checkpoint(let number) = record {
          checkpoint = number
        } else if isForTheLibrary(record, &state) {
          records.append(record)
        }
      }
      if !records.isEmpty {
        channel.add(.batch(records), checkpoint: checkpoint)
      } else if let checkpoint, !channel.add(checkpoint: checkpoint) {
        state.orders.append(.passed(checkpoint: checkpoint))
      }
    }
  }

  private func isForTheLibrary(_ record: WatchRecord, _ state: inout State) -> Bool {
    switch record {
    case .alive: return false
    case .synced(let number):
      // Otherwise it was answered while the share was late or silent.
      guard let position = state.openSyncs.firstIndex(of: number) else { return configuration.place != .share }
      state.openSyncs.remove(at: position)
    case .scanEnded(_, let request, _) where request != 0: state.openRescans[request] = nil
    default: break
    }
    return true
  }

  package func noteLateness() {
    state.withLock { state in
      guard configuration.place == .share, case .answers = state.presence else { return }
      state.presence = .late
      let records = answersToSyncs(&state)
      if !records.isEmpty { channel.add(.batch(records)) }
    }
  }

  package func note(errorLine line: String) {
    logger.warning("photod-watch says", metadata: ["line": "\(line)"])
  }

  package func end(session: Int, reason: String, isSilent: Bool) {
    logger.error("photod-watch died", metadata: ["reason": "\(reason)", "session": "\(session)"])
    state.withLock { state in
      disconnect(&state)
      // While a share is silent, only the first end is reported.
      if !state.presence.isSilent { channel.add(.died(session: session, reason: reason)) }
      if configuration.place == .share, isSilent { beSilent(ETIMEDOUT, &state) }
    }
  }

  /// Its thread could not be started. Until it is, its roots are offline, and no caller waits for them.
  func noteNotStarted(_ errorNumber: Int32) { state.withLock { beSilent(errorNumber, &$0) } }

  private func beSilent(_ errorNumber: Int32, _ state: inout State) {
    var records = answers(&state)
    if !state.presence.isSilent {
      state.presence = .silent(unannounced: nil)
      records += state.roots.map { .rootOffline(root: $0.number, errorNumber: errorNumber) }
    }
    if !records.isEmpty { channel.add(.batch(records)) }
  }

  package func finish() {
    state.withLock { state in
      disconnect(&state)
      // From now on, there are no answers.
      state.presence = .silent(unannounced: nil)
      let records = answers(&state)
      if !records.isEmpty { channel.add(.batch(records)) }
    }
    channel.finish()
  }

  private func disconnect(_ state: inout State) {
    state.isConnected = false
    state.orders = []
    if state.presence.isSilent { state.presence = .silent(unannounced: nil) }
  }

  /// Returns an end for each waiting rescan and sync.
  private func answers(_ state: inout State) -> [WatchRecord] {
    defer { state.openRescans = [:] }
    return state.openRescans.sorted { $0.key < $1.key }
      .map { .scanEnded(root: $0.value, request: $0.key, complete: false) } + answersToSyncs(&state)
  }

  private func answersToSyncs(_ state: inout State) -> [WatchRecord] {
    defer { state.openSyncs = [] }
    return state.openSyncs.map { .synced(number: $0) }
  }
}
