import Dispatch
import NIOCore
import NIOPosix
import Synchronization
import SystemThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A Varlink service on Unix sockets. It accepts connections of its own user, and its interfaces answer their calls.
///
/// ```swift
/// let service = VarlinkService(
///   identity: .init(vendor: "Example", product: "exampled", version: "1.0", url: "https://example.org"),
///   interfaces: [Greeter()])
/// let socket = try VarlinkSocket.listen(path: "/run/user/1000/example.sock")
/// try await service.serve(listeningDescriptor: socket)
/// ```
///
/// Network work is done on one separate thread for each listening socket. Interfaces answer on a few threads that all
/// services of the process share, so they must not block. All tasks that the service starts have ended when `serve`
/// returns.
public final class VarlinkService: Sendable {
  /// The reply of GetInfo.
  public struct Identity: Sendable, Hashable {
    /// The organization that made the service.
    public var vendor: String
    /// The name of the service.
    public var product: String
    /// The version of the service.
    public var version: String
    /// A page about the service.
    public var url: String

    /// Creates the identity that `GetInfo` returns.
    public init(vendor: String, product: String, version: String, url: String) {
      self.vendor = vendor
      self.product = product
      self.version = version
      self.url = url
    }
  }

  /// The resources that one service, and one connection, may use.
  public struct Limits: Sendable, Hashable {
    /// The maximum size of a call. A longer one gets InvalidParameter and is not kept. Replies have no limit here.
    public var maximumMessageBytes = 16 << 20
    /// The maximum number of connections of all listeners. Further ones are closed at once.
    public var maximumConnections = 2_048
    /// The maximum number of connections of one process, so that no process takes all of them.
    public var maximumConnectionsOfProcess = 1_024
    /// The number of calls that a connection may queue. If there are more, or 1 MiB of them, the socket is not read
    /// until half of them are answered.
    public var maximumQueuedCalls = 16
    /// The maximum memory for the messages of all connections, in and out. Beyond it, the connection that holds the
    /// most is closed.
    public var maximumHeldBytes = 256 << 20
    /// A connection without a call for this time is closed. A running call has no limit.
    public var idleTimeout = Duration.seconds(600)
    /// How long calls may go on after `shutDown()`.
    public var gracePeriod = Duration.seconds(1)

    /// The limits that a service has by default.
    public init() {}
  }

  /// Events for an operator. Each names the peer of its connection.
  public enum Event: Sendable {
    /// A connection was accepted.
    case accepted(VarlinkPeer)
    /// A connection was closed before its first byte was read. uid and pid are given if they could be found out.
    case refused(Refusal, uid: UInt32?, pid: Int32?)
    /// A message was not a call, and was answered with InvalidParameter.
    case malformed(VarlinkPeer, reason: String)
    /// An interface threw something other than a VarlinkError, or did not reply. This is an error of the program.
    case failed(VarlinkPeer, method: String, any Error)
    /// The connection is about to be closed, because no call came for `idleTimeout`.
    case idle(VarlinkPeer)
    /// A connection was closed.
    case closed(VarlinkPeer)
    /// A connection is closed: all connections together held more than `maximumHeldBytes`, and it held the most.
    case evicted(VarlinkPeer)
    /// Accepting failed, for example for a lack of descriptors. It is tried again after a second.
    case acceptFailed(any Error)
  }

  /// Why a connection was closed before it was read.
  public enum Refusal: Sendable, Hashable {
    /// It belongs to another user.
    case otherUser
    /// The service has as many connections as it may have.
    case tooManyConnections
    /// The process has as many connections as one process may have.
    case tooManyOfProcess
    /// The service is shutting down.
    case shuttingDown
    /// The kernel did not report the peer.
    case unknownPeer
  }

  let limits: Limits
  let memory: MessageMemory
  /// Scans the long messages of all connections.
  let scanning = ScanQueue()
  /// Reports an event. It is called on any thread and must not block.
  let onEvent: @Sendable (Event) -> Void
  private let interfaces: [String: (interface: any VarlinkInterface, definition: VarlinkInterfaceDefinition)]
  private let state = Mutex(State())

  private struct State {
    var connections = ConnectionTable<ServiceConnection>()
    /// One entry for each running `serve`.
    var listeners: [Int: Listener] = [:]
    var lastNumber = 0
    var phase = Phase.accepting
    /// When a connection was last opened or closed.
    var lastChange = NIODeadline.now()

    /// Whether a `serve` runs the connections of this listener, or is about to. A socket that is being moved to it may
    /// accept one after the `serve` has ended.
    func isServed(_ listener: Int) -> Bool { phase == .accepting || listeners[listener] != nil }
  }

  /// The phases of a service, in their order. It never returns to an earlier one.
  private enum Phase {
    /// Connections are accepted, and their calls answered.
    case accepting
    /// No more connections are accepted. Calls of the present ones are answered.
    case leaving
    case shuttingDown
  }

  private struct Listener {
    var channel: any Channel
    let steps: AsyncStream<Step>.Continuation
    /// The moves that are not complete. They need the event loop, so the `serve` does not end before them.
    var moveCount = 0
    /// The `serve`, while it waits for the last move.
    var waiting: CheckedContinuation<Void, Never>?
  }

  /// The next step of a `serve`.
  private enum Step {
    case run(ServiceConnection)
    /// The grace period is over.
    case cancelAll
  }

  /// - Parameters:
  ///   - interfaces: the interfaces besides `org.varlink.service`, which is built in.
  ///   - allowedUserID: the user whose processes may connect; by default this process's own user.
  ///   - onEvent: called on any thread, must not block.
  /// - Precondition: each interface's definition is valid and has the interface's `name`, and no name occurs twice.
  public init(
    identity: Identity, interfaces: [any VarlinkInterface], limits: Limits = Limits(),
    allowedUserID: UInt32 = geteuid(),
    onEvent: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    self.limits = limits
    memory = MessageMemory(limit: limits.maximumHeldBytes)
    self.onEvent = onEvent
    self.allowedUserID = allowedUserID
    let description = ServiceDescription(
      identity: identity,
      interfaces: [(ServiceDescription.interfaceName, ServiceDescription.text)]
        + interfaces.map { ($0.name, $0.definition) })
    var table: [String: (interface: any VarlinkInterface, definition: VarlinkInterfaceDefinition)] = [:]
    for interface in [description] + interfaces {
      do {
        let definition = try VarlinkInterfaceDefinition(parsing: interface.definition).bounded(by: interface.bounds)
        precondition(definition.name == interface.name, "\(interface.name) has the definition of \(definition.name)")
        let previous = table.updateValue((interface, definition), forKey: interface.name)
        precondition(previous == nil, "\(interface.name) is there twice")
      } catch {
        preconditionFailure("the definition of \(interface.name): \(error)")
      }
    }
    self.interfaces = table
  }

  private let allowedUserID: UInt32

  /// The number of open connections.
  public var connectionCount: Int { state.withLock { $0.connections.count } }

  /// The open connections, oldest first. It takes two locks for each.
  ///
  /// - Complexity: O(n log n) for n connections.
  public var connections: [VarlinkConnection] {
    let connections = state.withLock { $0.connections.all }
    return connections.map(\.description).sorted { $0.peer.connection < $1.peer.connection }
  }

  /// Like ``connections``, with ``VarlinkConnection/bytesInSocket``. These are read in one job on each event loop, with
  /// a system call for each connection.
  ///
  /// - Complexity: O(n log n) for n connections.
  public func connectionsWithSockets() async -> [VarlinkConnection] {
    let connections = state.withLock { $0.connections.all }
    let groups = Dictionary(grouping: connections) { ObjectIdentifier($0.messages.channel.eventLoop) }
    var described: [VarlinkConnection] = []
    for group in groups.values {
      let sizes = await MessageChannel.bytesInSockets(of: group.map(\.messages))
      for (connection, size) in zip(group, sizes) {
        var description = connection.description
        description.bytesInSocket = size
        described.append(description)
      }
    }
    return described.sorted { $0.peer.connection < $1.peer.connection }
  }

  /// The load of a service at one moment, from which a program decides whether the service may end.
  public struct Load: Sendable, Hashable {
    /// The open connections, including idle ones.
    public var connectionCount: Int
    /// Calls that have arrived and are not answered. These are the running calls, including streams, and the queued
    /// ones.
    public var activeCallCount: Int
    /// How long there has been no call, and no connection was opened or closed. It is zero while `activeCallCount` is
    /// not. Time in which the machine sleeps does not count.
    public var idleTime: Duration

    /// Creates the load of a service.
    public init(connectionCount: Int, activeCallCount: Int, idleTime: Duration) {
      self.connectionCount = connectionCount
      self.activeCallCount = activeCallCount
      self.idleTime = idleTime
    }
  }

  /// The current load. It takes a lock for each connection and does not delay the calls themselves. A message that is
  /// incomplete, or still in the kernel, does not count. A program that shuts the service down because of the load
  /// closes its connection.
  public var load: Load {
    let (connections, lastChange) = state.withLock { state in
      (state.connections.all, state.lastChange)
    }
    var load = Load(connectionCount: connections.count, activeCallCount: 0, idleTime: .zero)
    var idleSince = lastChange
    for connection in connections {
      let work = connection.queue.work
      load.activeCallCount += work.count
      idleSince = max(idleSince, work.noneSince ?? idleSince)
    }
    if load.activeCallCount == 0 {
      load.idleTime = .nanoseconds(max(0, (NIODeadline.now() - idleSince).nanoseconds))
    }
    return load
  }

  // MARK: - Serving

  /// Accepts connections until `stopAccepting()` or `shutDown()`, and returns when all their calls have ended. If
  /// one of the two was called before, it returns at once. Several sockets can be served concurrently, each by a call of
  /// its own. Cancelling the task shuts everything down without grace.
  ///
  /// - Parameter descriptor: a listening Unix stream socket, handed over by a service manager or made by
  ///   `VarlinkSocket.listen`. From now on the service owns it and closes it; the socket file stays.
  /// - Throws: `VarlinkSocket.Failure` if the descriptor is not such a socket. It is not closed then.
  public func serve(listeningDescriptor descriptor: CInt) async throws {
    try VarlinkSocket.checkListening(descriptor)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    group.next().execute { TimeSlice.request(TimeSlice.short) }
    let result: Result<Void, any Error>
    do {
      result = .success(
        try await withTaskExecutorPreference(AnswerThreads.shared) { try await serve(descriptor, on: group) })
    } catch {
      result = .failure(error)
    }
    try await group.shutdownGracefully()
    try result.get()
  }

  private func serve(_ descriptor: CInt, on group: MultiThreadedEventLoopGroup) async throws {
    let (steps, continuation) = AsyncStream.makeStream(of: Step.self)
    let id = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let channel = try await accept(at: descriptor, on: group, listener: id, continuation)
    let phase = state.withLock { state in
      state.listeners[id] = Listener(channel: channel, steps: continuation)
      return state.phase
    }
    channel.closeFuture.whenComplete { _ in self.endIfDone() }
    switch phase {
    case .accepting: break
    case .leaving: channel.close(promise: nil)
    case .shuttingDown: shutDown()
    }

    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { tasks in
        for await step in steps {
          switch step {
          case .run(let connection):
            tasks.addTask {
              await connection.run()
              self.remove(connection)
            }
          case .cancelAll:
            tasks.cancelAll()
          }
        }
        // The listener has ended, or this task is cancelled. In the second case, some connections may have no task that
        // runs them.
        for connection in self.state.withLock({ $0.connections.all(ofListener: id) }) { connection.messages.close() }
      }
    } onCancel: {
      shutDown(within: .zero)
    }
    await waitForMoves(of: id)
    state.withLock { state in
      state.listeners[id] = nil
      state.connections.removeAll(ofListener: id)
    }
  }

  private func accept(
    at descriptor: CInt, on group: any EventLoopGroup, listener: Int, _ steps: AsyncStream<Step>.Continuation
  ) async throws -> any Channel {
    try await ServerBootstrap(group: group)
      .serverChannelInitializer { [onEvent] channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptErrorHandler(onEvent: onEvent))
        }
      }
      .childChannelInitializer { channel in
        Self.credentials(of: channel).flatMapThrowing { credentials in
          try self.admit(channel, credentials, listener: listener, steps)
        }
      }
      .withBoundSocket(descriptor).get()
  }

  /// Accepts further connections at this socket, and closes the one at which `serve` accepts them now. The connections
  /// of that one continue, and the `serve` goes on until `shutDown()`. This is for a socket whose file was deleted, so
  /// that no client finds it.
  ///
  /// - Parameter descriptor: as in ``serve(listeningDescriptor:)``.
  /// - Returns: false if no `serve` accepts connections, or several do. Then the descriptor is closed.
  package func move(to descriptor: CInt) async throws -> Bool {
    try VarlinkSocket.checkListening(descriptor)
    let found = state.withLock { state -> (Int, Listener)? in
      guard state.phase == .accepting, state.listeners.count == 1, let (id, listener) = state.listeners.first,
        listener.channel.isActive
      else { return nil }
      state.listeners[id]?.moveCount += 1
      return (id, listener)
    }
    guard let (id, present) = found else {
      close(descriptor)
      return false
    }
    defer { endMove(of: id) }
    let channel = try await accept(at: descriptor, on: present.channel.eventLoop, listener: id, present.steps)
    // Another move may have replaced the listener in the meantime, so the one that is closed is read with the lock.
    let replaced = state.withLock { state -> (any Channel)? in
      guard state.phase == .accepting, let listener = state.listeners[id], listener.channel.isActive else { return nil }
      state.listeners[id]?.channel = channel
      return listener.channel
    }
    channel.closeFuture.whenComplete { _ in self.endIfDone() }
    (replaced ?? channel).close(promise: nil)
    return replaced != nil
  }

  private func endMove(of listener: Int) {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.listeners[listener]?.moveCount -= 1
      guard state.listeners[listener]?.moveCount == 0 else { return nil }
      return state.listeners[listener]?.waiting
    }
    waiting?.resume()
    endIfDone()
  }

  private func waitForMoves(of listener: Int) async {
    await withCheckedContinuation { continuation in
      let isMoving = state.withLock { state in
        guard let count = state.listeners[listener]?.moveCount, count > 0 else { return false }
        state.listeners[listener]?.waiting = continuation
        return true
      }
      if !isMoving { continuation.resume() }
    }
  }

  /// Closes the listening sockets and keeps their connections. Each `serve` returns when its last connection has ended.
  /// This is for a program that leaves a socket to another process: new connections wait in the socket's queue.
  public func stopAccepting() {
    let listeners = state.withLock { state in
      if state.phase == .accepting { state.phase = .leaving }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.channel.close(promise: nil) }
  }

  /// Stops accepting, lets running calls go on for a while, then cancels them and closes every connection. Queued calls
  /// are not begun. Returns at once; `serve` returns when everything has ended.
  ///
  /// - Parameter time: replaces the limits' `gracePeriod`.
  public func shutDown(within time: Duration? = nil) {
    let (listeners, connections) = state.withLock { state in
      state.phase = .shuttingDown
      return (Array(state.listeners.values), state.connections.all)
    }
    for listener in listeners { listener.channel.close(promise: nil) }
    for connection in connections { connection.queue.end(dropping: true) }
    let time = time ?? limits.gracePeriod
    for listener in listeners {
      if time <= .zero {
        listener.steps.yield(.cancelAll)
      } else {
        // This does not use the event loop, because a listener whose calls have ended may have shut that down already.
        let (seconds, attoseconds) = time.components
        let delay = DispatchTimeInterval.milliseconds(Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
        let steps = listener.steps
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { steps.yield(.cancelAll) }
      }
    }
    endIfDone()
  }

  // MARK: - Connections

  private struct RefusedConnection: Error {}

  /// Runs on the event loop. Registers a connection, or throws, after which the connection is closed.
  private func admit(
    _ channel: any Channel, _ credentials: SocketCredentials?, listener: Int, _ steps: AsyncStream<Step>.Continuation
  ) throws {
    func refuse(_ refusal: Refusal) -> RefusedConnection {
      onEvent(.refused(refusal, uid: credentials?.uid, pid: credentials?.pid))
      return RefusedConnection()
    }
    guard let credentials else { throw refuse(.unknownPeer) }
    guard credentials.uid == allowedUserID else { throw refuse(.otherUser) }
    // Only this thread adds connections of this listener. With several listeners, each may exceed the limit by one.
    let (count, countOfProcess, mayAdmit, number) = state.withLock { state in
      state.lastNumber += 1
      let ofProcess = state.connections.count(ofProcess: credentials.pid)
      let mayAdmit = state.phase != .shuttingDown && state.isServed(listener)
      return (state.connections.count, ofProcess, mayAdmit, state.lastNumber)
    }
    guard mayAdmit else { throw refuse(.shuttingDown) }
    guard count < limits.maximumConnections else { throw refuse(.tooManyConnections) }
    guard countOfProcess < limits.maximumConnectionsOfProcess else { throw refuse(.tooManyOfProcess) }
    let peer = VarlinkPeer(connection: number, uid: credentials.uid, gid: credentials.gid, pid: credentials.pid)
    let connection = try ServiceConnection(channel: channel, peer: peer, service: self)
    let isTooLate = state.withLock { state -> Bool? in
      guard state.isServed(listener) else { return nil }
      state.connections.insert(
        .init(connection: connection, process: peer.pid, listener: listener), number: number)
      state.lastChange = .now()
      return state.phase == .shuttingDown
    }
    guard let isTooLate else {
      connection.messages.close()
      throw refuse(.shuttingDown)
    }
    if isTooLate { connection.queue.end(dropping: true) }
    onEvent(.accepted(peer))
    steps.yield(.run(connection))
  }

  private static func credentials(of channel: any Channel) -> EventLoopFuture<SocketCredentials?> {
    guard let provider = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeSucceededFuture(nil)
    }
    let found: EventLoopFuture<SocketCredentials> = provider.unsafeGetSocketOption(
      level: SocketOptionLevel(SOL_SOCKET), name: SocketOptionName(SO_PEERCRED))
    return found.map { $0 }.recover { _ in nil }
  }

  private func remove(_ connection: ServiceConnection) {
    state.withLock { state in
      state.connections.remove(connection.peer.connection)
      state.lastChange = .now()
    }
    onEvent(.closed(connection.peer))
    endIfDone()
  }

  /// Ends each `serve` whose socket is closed and that has no connections left.
  private func endIfDone() {
    let done = state.withLock { state in
      state.listeners.filter {
        state.connections.isEmpty(ofListener: $0.key) && !$0.value.channel.isActive && $0.value.moveCount == 0
      }
      .map(\.value.steps)
    }
    for steps in done { steps.finish() }
  }

  // MARK: - Requests of connections

  /// Closes a connection that holds more memory than any other.
  func evict(_ number: Int) {
    guard let connection = state.withLock({ $0.connections[number] }) else { return }
    onEvent(.evicted(connection.peer))
    // The connection is closed on its event loop, because it may be about to write.
    connection.messages.channel.eventLoop.execute { connection.messages.close() }
  }

  var idleTime: TimeAmount { TimeAmount(limits.idleTimeout) }

  /// The interface that answers a method, and the method.
  func resolve(_ qualified: String) -> Result<(any VarlinkInterface, VarlinkMethod), VarlinkError> {
    // The length is bounded, because the error repeats the name.
    guard qualified.utf8.count <= 1_000, let dot = qualified.lastIndex(of: ".") else {
      return .failure(.invalidParameter("method"))
    }
    let interfaceName = String(qualified[..<dot])
    let method = String(qualified[qualified.index(after: dot)...])
    guard let entry = interfaces[interfaceName] else { return .failure(.interfaceNotFound(interfaceName)) }
    guard let shape = entry.definition.parameterShapes[method] else { return .failure(.methodNotFound(qualified)) }
    let types = entry.definition.typeShapes
    return .success((entry.interface, VarlinkMethod(name: method, shape: shape, types: types)))
  }
}

/// A method of an interface.
struct VarlinkMethod: Sendable {
  /// The name without the interface's name.
  let name: String
  let shape: VarlinkShape
  let types: [String: VarlinkShape]
}

/// `struct ucred` of unix(7), which SO_PEERCRED fills.
private struct SocketCredentials: Sendable {
  var pid: Int32 = 0
  var uid: UInt32 = 0
  var gid: UInt32 = 0
}

/// Reports why connections could not be accepted. NIO does the back-off.
private final class AcceptErrorHandler: ChannelInboundHandler {
  typealias InboundIn = any Channel
  private let onEvent: @Sendable (VarlinkService.Event) -> Void

  init(onEvent: @escaping @Sendable (VarlinkService.Event) -> Void) { self.onEvent = onEvent }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Errors of accepted channels come through here, too. Refusals were already reported.
    if error is IOError { onEvent(.acceptFailed(error)) }
  }
}
