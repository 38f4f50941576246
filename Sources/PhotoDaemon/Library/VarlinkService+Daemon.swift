import Logging
import Varlink

extension VarlinkService {
  /// The service of photod with these interfaces.
  static func photod(
    _ interfaces: [any VarlinkInterface], limits: Limits = .leavingFiles(), logger: Logger
  ) -> VarlinkService {
    VarlinkService(
      identity: .init(
        vendor: "photod", product: "photod", version: Daemon.version, url: "https://github.com/photod/photod"),
      interfaces: interfaces, limits: limits,
      onEvent: { [counted = RepeatedMessages.counted(logger)] in serviceEvent($0, counted) })
  }

  /// Accepts no more connections, and lets the present ones finish. Returns when there was no call for 100 ms, in which
  /// a call on its way would have arrived, or after a second.
  func drain() async {
    stopAccepting()
    let end = ContinuousClock.now + .seconds(1)
    // It waits once in any case, because a connection that is being accepted, or a call in the kernel, is not counted
    // yet.
    repeat {
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
    } while connectionCount > 0 && load.idleTime < .milliseconds(100) && ContinuousClock.now < end
  }
}

/// - Parameter logger: A logger that counts repeated messages, because clients decide how often this is called.
private func serviceEvent(_ event: VarlinkService.Event, _ logger: Logger) {
  switch event {
  case .refused(let refusal, let uid, let pid):
    logger.warning(
      "connection refused",
      metadata: ["why": "\(refusal)", "uid": "\(uid.map(String.init) ?? "?")", "pid": "\(pid.map(String.init) ?? "?")"])
  case .malformed(let peer, let reason):
    logger.info("malformed message", metadata: ["pid": "\(peer.pid)", "reason": "\(reason)"])
  case .failed(let peer, let method, let error):
    logger.critical("call failed", metadata: ["method": "\(method)", "pid": "\(peer.pid)", "error": "\(error)"])
  case .evicted(let peer):
    logger.warning("connection closed", metadata: ["pid": "\(peer.pid)", "why": "its messages take too much memory"])
  case .acceptFailed(let error): logger.error("accept failed", metadata: ["error": "\(error)"])
  case .accepted, .idle, .closed: break
  }
}
