// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import SystemErrors
import WatchRecords

/// photod's request for a confirmation that everything until now has been reported.
struct SyncRequest {
  var number: UInt64
  /// The event of its file was read, so all earlier events were read.
  var isCookieSeen = false
  /// The kernel may have dropped the event of its file.
  var isCookieLost = false
  /// Without a cookie: the event count at which all earlier events have been handled. An empty queue proves the same.
  var eventsToHandle: UInt64?
  /// The number of the pass over all polled directories that must be over; 0 if none are polled.
  var pass: UInt64 = 0
  /// The event count at its event. Postponed work with a smaller stamp is older than the sync.
  var stamp: UInt64 = 0
}

/// The syncs that photod waits for.
struct Syncing {
  /// nil if it can't be created or watched. In that case, a sync waits until the queue is empty.
  var cookies: CookieDirectory?
  var hasReportedNoCookies = false
  var requests: [SyncRequest] = []
}

/// photod-watch's own directory, in the same inotify instance as the roots. One instance is one ordered queue for all
/// file systems. So the event of a file that is created here proves that all earlier events were read.
struct CookieDirectory {
  let path: [UInt8]
  let watch: Int32
  private let descriptor: Int32

  /// Creates it in $XDG_RUNTIME_DIR/photod if that exists, else in $TMPDIR, else in /tmp.
  /// - Throws: `WatchStartError` if it can't be created or watched. Syncs then do without cookies.
  init(inotify: InotifyInstance) throws(WatchStartError) {
    let parent = Self.parent()
    Self.removeAbandoned(in: parent)
    var template = Array("\(parent)/photod-watch.\(getpid()).XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw WatchStartError(message: "no directory for sync cookies can be made in \(parent): \(errorText(errno))")
    }
    path = template.dropLast().map { UInt8(bitPattern: $0) }
    descriptor = withCName(path) { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else {
      let errorNumber = errno
      _ = withCName(path) { rmdir($0) }
      throw WatchStartError(message: "the directory for sync cookies can't be opened: \(errorText(errorNumber))")
    }
    switch inotify.watch(descriptor, mask: UInt32(IN_CREATE | IN_ONLYDIR)) {
    case .success(let given): watch = given
    case .failure(let error):
      close(descriptor)
      _ = withCName(path) { rmdir($0) }
      throw WatchStartError(message: "the directory for sync cookies can't be watched: \(errorText(error.number))")
    }
  }

  /// Creates and removes the file with this number.
  /// - Throws: `SystemError` if the directory is gone or full.
  func write(_ number: UInt64) throws(SystemError) {
    let errorNumber: Int32 = withCName(Array(String(number).utf8)) { name in
      let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      guard file >= 0 else { return errno }
      close(file)
      // A removal that fails once is repeated, because a file that stays would keep the directory from being removed.
      return unlinkat(descriptor, name, 0) == 0 || unlinkat(descriptor, name, 0) == 0 ? 0 : errno
    }
    guard errorNumber == 0 else { throw SystemError(number: errorNumber) }
  }

  func remove() {
    close(descriptor)
    _ = withCName(path) { rmdir($0) }
  }

  /// A relative path in the environment means nothing to a daemon. It is ignored, as the XDG Base Directory
  /// Specification asks.
  private static func parent() -> String {
    if let runtime = absolutePath("XDG_RUNTIME_DIR"), access(runtime + "/photod", W_OK | X_OK) == 0 {
      return runtime + "/photod"
    }
    if let temporary = absolutePath("TMPDIR"), access(temporary, W_OK | X_OK) == 0 { return temporary }
    return "/tmp"
  }

  private static func absolutePath(_ variable: String) -> String? {
    guard let value = getenv(variable), value.pointee == CChar(bitPattern: UInt8(ascii: "/")) else { return nil }
    return String(cString: value)
  }

  /// Removes what a killed photod-watch left behind: empty directories named after a process that no longer exists.
  private static func removeAbandoned(in parent: String) {
    guard let stream = opendir(parent) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      let parts = name.split(separator: ".")
      guard parts.count == 3, parts[0] == "photod-watch", let process = pid_t(parts[1]) else { continue }
      if kill(process, 0) != 0, errno == ESRCH { rmdir("\(parent)/\(name)") }
    }
  }
}

extension FolderWatch {
  func beginSync(_ number: UInt64) {
    syncing.requests.append(SyncRequest(number: number))
    guard let cookies = syncing.cookies else { return doWithoutCookie(syncing.requests.count - 1) }
    do throws(SystemError) {
      try cookies.write(number)
    } catch {
      loseCookies(error)
      doWithoutCookie(syncing.requests.count - 1)
    }
  }

  /// The directory was removed, or can't be written to. The next check creates another. No sync waits for that.
  private func loseCookies(_ error: SystemError) {
    complain("a sync cookie can't be written: \(errorText(error.number))")
    if let cookies = syncing.cookies { events.inotify.unwatch(cookies.watch) }
    syncing.cookies?.remove()
    syncing.cookies = nil
    schedule.checks.mustRun = true
    for position in syncing.requests.indices
    where !syncing.requests[position].isCookieSeen && syncing.requests[position].eventsToHandle == nil {
      doWithoutCookie(position)
    }
  }

  private func doWithoutCookie(_ position: Int) {
    let longestQueue = WatchShare.number(in: "/proc/sys/fs/inotify/max_queued_events") ?? 16384
    syncing.requests[position].eventsToHandle =
      events.progress.eventCount + UInt64(events.backlog.count) + UInt64(longestQueue)
  }

  func noteCookie(_ event: WatchEvent) {
    guard let number = UInt64(String(decoding: event.name, as: UTF8.self)) else { return }
    for position in syncing.requests.indices
    where syncing.requests[position].number == number && !syncing.requests[position].isCookieSeen {
      noteReached(position)
    }
  }

  /// Without a cookie, an empty queue proves that all earlier events were handled. A count of as many events as fit in
  /// the queue proves it, too.
  func noteSyncsWithoutCookie(drained: Bool) {
    for position in syncing.requests.indices where !syncing.requests[position].isCookieSeen {
      guard let needed = syncing.requests[position].eventsToHandle, drained || events.progress.eventCount >= needed
      else {
        continue
      }
      // This step of the count takes the place of the cookie's event.
      events.progress.eventCount += 1
      events.progress.stamp = events.progress.eventCount
      noteReached(position)
    }
  }

  /// Records that all events from before the sync were handled. Directories without events are polled now.
  private func noteReached(_ position: Int) {
    syncing.requests[position].isCookieSeen = true
    syncing.requests[position].stamp = events.progress.eventCount
    reportPending()
    if polling.directories.count > 0 { syncing.requests[position].pass = polling.rounds.wantPass() }
  }

  func rewriteLostCookies() {
    for position in syncing.requests.indices
    where syncing.requests[position].isCookieLost && !syncing.requests[position].isCookieSeen {
      syncing.requests[position].isCookieLost = false
      guard let cookies = syncing.cookies, syncing.requests[position].eventsToHandle == nil else { continue }
      do throws(SystemError) {
        try cookies.write(syncing.requests[position].number)
      } catch {
        return loseCookies(error)
      }
    }
  }

  /// The newest stamp for which a sync waits: postponed work up to it is due early. 0 if no sync waits.
  func forcedStamp() -> UInt64 {
    var stamp: UInt64 = 0
    for sync in syncing.requests where sync.isCookieSeen { stamp = max(stamp, sync.stamp) }
    return stamp
  }

  /// Sends `synced` for every sync if no earlier work is pending.
  func answerDueSyncs() {
    guard forcedStamp() > 0, !events.progress.hasOverflowed, scans.running.isEmpty else { return }
    reportPending()
    var oldest = UInt64.max
    for departure in files.held.departures.values { oldest = min(oldest, departure.stamp) }
    for entry in unsettled.missing.values where entry.attempts == 0 { oldest = min(oldest, entry.stamp) }
    for entry in files.unreported.entries.values { oldest = min(oldest, entry.stamp) }
    for retry in unsettled.retries.values where retry.attempts < ListingRetry.awaitedAttempts {
      oldest = min(oldest, retry.stamp)
    }
    // While a wide folder is listed there are many requests, and nearly all are older than the syncs.
    let oldestSync = syncing.requests.lazy.filter(\.isCookieSeen).map(\.stamp).min() ?? 0
    for request in walk.requests.values {
      oldest = min(oldest, request.stamp)
      if oldest <= oldestSync { return }
    }
    syncing.requests.removeAll { sync in
      guard sync.isCookieSeen, sync.stamp < oldest, sync.pass <= polling.rounds.passesDone else { return false }
      reportPolling(nil)
      report(.synced(number: sync.number))
      return true
    }
  }
}
