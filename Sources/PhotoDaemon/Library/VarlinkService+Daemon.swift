import Logging
import Varlink

extension VarlinkService {
  /// The service of photod with these interfaces.
  static func photod(
    _ interfaces: [any VarlinkInterface], limits: Limits = Limits(), logger: Logger
  ) -> VarlinkService {
    VarlinkService(
      identity: .init(
        vendor: "photod", product: "photod", version: Daemon.version, url: "https://github.com/photod/photod"),
      interfaces: interfaces, limits: limits,
      onEvent: { [counted = RepeatedMessages.counted(logger)] in serviceEvent($0, counted) })
  }

  /// Takes no more connections and lets those there are finish: until there has been no call for a moment, in which one
  /// that was on its way would have come.
  func drain() async {
    stopAccepting()
    let end = ContinuousClock.now + .seconds(1)
    // Once in any case: a connection that is being taken, or a call that is in the kernel, is counted only after.
    repeat {
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
    } while connectionCount > 0 && load.idleTime < .milliseconds(100) && ContinuousClock.now < end
  }
}

/// - Parameter logger: One that counts: clients decide how often this is called.
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
