import Glibc
import SystemErrors

/// Sends the state of photod to the service manager (sd_notify(3)), as a datagram of `NAME=value` lines to the socket
/// that `NOTIFY_SOCKET` names. Without that variable every call does nothing.
package struct ServiceNotifier: Sendable {
  /// The time within which the manager expects a ping. Pings are due at half of it (sd_watchdog_enabled(3)).
  package let watchdogInterval: Duration?
  private let path: String?

  package init(_ environment: ProcessEnvironment) {
    path = environment.variables["NOTIFY_SOCKET"]
    let process = environment.variables["WATCHDOG_PID"]
    if let text = environment.variables["WATCHDOG_USEC"], let microseconds = UInt64(text),
      microseconds > 0, microseconds < UInt64(Int64.max), process == nil || process == "\(environment.processID)"
    {
      watchdogInterval = .microseconds(Int64(microseconds))
    } else {
      watchdogInterval = nil
    }
  }

  /// Reports that the start, or a reload, has ended.
  ///
  /// - Parameters:
  ///   - status: nil leaves the status as it is.
  ///   - waits: whether to wait, for up to a second, if the manager's queue is full.
  @discardableResult
  package func ready(status: String? = nil, waits: Bool = true) -> String? {
    send("READY=1" + (status.map { "\nSTATUS=\(Self.oneLine($0))" } ?? ""), waits: waits)
  }

  /// Sets the status for `systemctl status`. It never waits for a manager that is too busy to take it.
  @discardableResult
  package func status(_ text: String) -> String? { send("STATUS=\(Self.oneLine(text))", waits: false) }

  /// Reports that the configuration is being read again; ``ready(status:)`` ends that. Later managers need the time for
  /// `Type=notify-reload`.
  @discardableResult
  package func reloading() -> String? {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
  }

  @discardableResult
  package func stopping(status: String) -> String? { send("STOPPING=1\nSTATUS=\(Self.oneLine(status))") }

  /// Sends the watchdog ping. Only a turn of the queue that does the work may cause it. It never waits for a manager
  /// that is too busy, because the proof of life must not block photod.
  @discardableResult
  package func alive() -> String? { send("WATCHDOG=1", waits: false) }

  /// - Parameter waits: whether to wait, for up to a second, if the manager's queue is full.
  /// - Returns: Why the message could not be sent. The manager's own time limits apply then.
  private func send(_ message: String, waits: Bool = true) -> String? {
    guard let path else { return nil }
    // vsock addresses are for virtual machines, and no user manager is on the other side of them.
    guard path.hasPrefix("/") || path.hasPrefix("@"), let address = UnixSocketAddress(path) else {
      return "NOTIFY_SOCKET \(path) is no address of a Unix socket"
    }
    let descriptor = UnixSocketAddress.makeSocket(SOCK_DGRAM)
    guard descriptor >= 0 else { return errorText(errno) }
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let bytes = Array(message.utf8)
    let flags = Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT))
    let sent = address.withPointer { sendto(descriptor, bytes, bytes.count, flags, $0, $1) }
    return sent == bytes.count ? nil : errorText(errno)
  }

  private static func oneLine(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }
}
