// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import SystemErrors
import WatchRecords

extension FolderWatch {
  /// Reads the orders that photod has written, and carries them out.
  /// - Returns: false if photod has closed its end.
  func readOrders() throws(WatchFailure) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = recv(connection.socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count == 0 { return false }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == EAGAIN { return true }
        if errno == ECONNRESET { return false }
        throw WatchFailure(message: "orders can't be read: \(errorText(errno))", status: 1)
      }
      connection.orders.append(buffer[..<count])
      while let received = try nextOrders() {
        for order in received { try carryOut(order) }
      }
    }
  }

  private func nextOrders() throws(WatchFailure) -> [WatchOrder]? {
    do throws(WatchFormatError) {
      guard let payload = try connection.orders.next() else { return nil }
      return try WatchStream.orders(in: payload)
    } catch {
      throw WatchFailure(message: "an order of photod is invalid: \(error)", status: 1)
    }
  }

  private func carryOut(_ order: WatchOrder) throws(WatchFailure) {
    events.progress.stamp = events.progress.eventCount
    switch order {
    case .begin(let firstNumber, let watchPercent, let refuses):
      tree.number(from: firstNumber)
      watches.share.percent = UInt64(watchPercent)
      mounts.refusesShares = refuses
    case .configure(let extensions, let ignoredDirectoryNames, let ignoredPatterns):
      try setRules(extensions, ignoredDirectoryNames, ignoredPatterns)
    case .addRoot(let number, let path):
      removeRoot(number)
      roots[number] = WatchedRoot(path: path)
      openRoot(number, reason: .start)
    case .removeRoot(let number): removeRoot(number)
    case .setPollInterval(let number, let seconds): roots[number]?.pollInterval = .seconds(Int64(seconds))
    case .rescan(let root, let directory, let request): rescan(root, directory: directory, request: request)
    case .sync(let number): beginSync(number)
    case .passed(let checkpoint): scans.pace.pass(checkpoint)
    }
  }
}
