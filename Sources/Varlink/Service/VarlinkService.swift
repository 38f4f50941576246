import Dispatch
import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A Varlink service on Unix sockets: accepts connections of its own user, and has interfaces answer their calls.
///
/// ```swift
/// let service = VarlinkService(
///   identity: .init(vendor: "Example", product: "exampled", version: "1.0", url: "https://example.org"),
///   interfaces: [Greeter()])
/// let socket = try VarlinkSocket.listen(path: "/run/user/1000/example.sock")
/// try await service.serve(listeningDescriptor: socket)
/// ```
///
/// Network work is done on one thread of its own; interfaces answer on the tasks' executor. All tasks it starts have
/// ended when `serve` returns.
public final class VarlinkService: Sendable {
  /// What GetInfo answers.
  public struct Identity: Sendable, Hashable {
    public var vendor: String
    public var product: String
    public var version: String
    public var url: String

    public init(vendor: String, product: String, version: String, url: String) {
      self.vendor = vendor
      self.product = product
      self.version = version
      self.url = url
    }
  }

  /// What one service, and one connection, may cost.
  public struct Limits: Sendable, Hashable {
    /// The longest call; a longer one is answered with InvalidParameter and not kept. Replies have no limit here.
    public var maximumMessageBytes = 16 << 20
    /// Of all listeners together; more are closed as they come.
    public var maximumConnections = 2_048
    /// A process has no more of them than this, so that none takes all of them from the others.
    public var maximumConnectionsOfProcess = 1_024
    /// Calls that a connection may send ahead; with more, or with 1 MiB of them, its socket is not read until half of
    /// them are answered.
    public var maximumQueuedCalls = 16
    /// The messages of all connections together, in and out. Beyond it, the connection that holds the most is closed.
    public var maximumHeldBytes = 256 << 20
    /// A connection without a call for so long is closed. A call that is being answered has no limit.
    public var idleTimeout = Duration.seconds(600)
    /// How long calls may go on after `shutDown()`.
    public var gracePeriod = Duration.seconds(1)

    public init() {}
  }

  /// What an operator may want to know. A connection is named by its peer.
  public enum Event: Sendable {
    case accepted(VarlinkPeer)
    /// A connection was closed before its first byte was read. uid and pid where they could be found out.
    case refused(Refusal, uid: UInt32?, pid: Int32?)
    /// A message that is no call; it was answered with InvalidParameter.
    case malformed(VarlinkPeer, reason: String)
    /// An interface threw something other than a VarlinkError, or did not reply: an error of the program.
    case failed(VarlinkPeer, method: String, any Error)
    /// About to be closed, because no call came for `idleTimeout`.
    case idle(VarlinkPeer)
    case closed(VarlinkPeer)
    /// A connection is closed: all together held more than `maximumHeldBytes`, and it held the most.
    case evicted(VarlinkPeer)
    /// Accepting failed (out of descriptors, say); it is tried again after a second.
    case acceptFailed(any Error)
  }

  public enum Refusal: Sendable, Hashable {
    case otherUser
    case tooManyConnections
    case tooManyOfProcess
    case shuttingDown
    /// The kernel did not say who it is.
    case unknownPeer
  }

  let limits: Limits
  let memory: MessageMemory
  /// Scans the long messages of all connections.
  let scanning = DispatchQueue(label: "varlink.scan")
  /// Called on any thread; must not block.
  let onEvent: @Sendable (Event) -> Void
  private let interfaces: [String: (interface: any VarlinkInterface, definition: VarlinkInterfaceDefinition)]
  private let state = Mutex(State())

  private struct State {
    var connections = ConnectionTable<ServiceConnection>()
    /// One for each `serve` that runs.
    var listeners: [Int: Listener] = [:]
    var lastNumber = 0
    /// Once true, it stays so.
    var isShuttingDown = false
    /// When a connection last came or went.
    var lastChange = NIODeadline.now()
  }

  private struct Listener {
    let channel: any Channel
    let steps: AsyncStream<Step>.Continuation
  }

  /// What a `serve` has to do next.
  private enum Step {
    case run(ServiceConnection)
    /// The grace period is over.
    case cancelAll
  }

  /// - Parameters:
  ///   - interfaces: beside `org.varlink.service`, which is built in.
  ///   - allowedUserID: whose processes may connect; by default those of this process's own user.
  ///   - onEvent: called on any thread, must not block.
  /// - Precondition: each interface's definition is one, names the interface as `name` does, and no name comes twice.
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

  /// Connections that are open now.
  public var connectionCount: Int { state.withLock { $0.connections.count } }

  /// The connections that are open now, oldest first. It takes two locks for each.
  public var connections: [VarlinkConnection] {
    let connections = state.withLock { $0.connections.all }
    return connections.map(\.description).sorted { $0.peer.connection < $1.peer.connection }
  }

  /// As ``connections``, with ``VarlinkConnection/bytesInSocket``, which their event loops are asked for.
  public func connectionsWithSockets() async -> [VarlinkConnection] {
    var described: [VarlinkConnection] = []
    for connection in state.withLock({ $0.connections.all }) {
      var description = connection.description
      description.bytesInSocket = await connection.messages.bytesInSocket()
      described.append(description)
    }
    return described.sorted { $0.peer.connection < $1.peer.connection }
  }

  /// How busy a service is at one moment: what it takes to decide that nobody would miss it.
  public struct Load: Sendable, Hashable {
    /// Open connections, also those with nothing to do.
    public var connectionCount: Int
    /// Calls that came and are not answered: those being answered, of which running streams are some, and those that
    /// wait behind them.
    public var activeCallCount: Int
    /// How long there has been no call, and no connection came or went; zero while `activeCallCount` isn't. Time in
    /// which the machine sleeps does not count.
    public var idleTime: Duration

    public init(connectionCount: Int, activeCallCount: Int, idleTime: Duration) {
      self.connectionCount = connectionCount
      self.activeCallCount = activeCallCount
      self.idleTime = idleTime
    }
  }

  /// How busy it is now. It takes a lock for each connection, and nothing from the calls themselves. A message that is
  /// only partly here, or in the kernel, is not counted: who shuts down upon this closes on it.
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

  /// Accepts connections until `shutDown()`, and returns when all their calls have ended; after it, at once. Several sockets can be
  /// served at once, each by a call of its own. Cancelling the task shuts everything down without grace.
  ///
  /// - Parameter descriptor: a Unix stream socket that listens already, handed over by a service manager or made by
  ///   `VarlinkSocket.listen`. It is the service's from now on, which closes it; a socket file is left alone.
  /// - Throws: `VarlinkSocket.Failure` when the descriptor is no such socket; it is not closed then.
  public func serve(listeningDescriptor descriptor: CInt) async throws {
    try VarlinkSocket.checkListening(descriptor)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let result: Result<Void, any Error>
    do {
      result = .success(try await serve(descriptor, on: group))
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
    let channel = try await ServerBootstrap(group: group)
      .serverChannelInitializer { [onEvent] channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptErrorHandler(onEvent: onEvent))
        }
      }
      .childChannelInitializer { channel in
        Self.credentials(of: channel).flatMapThrowing { credentials in
          try self.admit(channel, credentials, listener: id, continuation)
        }
      }
      .withBoundSocket(descriptor).get()
    let isShuttingDown = state.withLock { state in
      state.listeners[id] = Listener(channel: channel, steps: continuation)
      return state.isShuttingDown
    }
    channel.closeFuture.whenComplete { _ in self.endIfDone() }
    if isShuttingDown { shutDown() }

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
        // Over, or this task is cancelled: then there may be connections that nobody runs.
        for connection in self.state.withLock({ $0.connections.all(ofListener: id) }) { connection.messages.close() }
      }
    } onCancel: {
      shutDown(within: .zero)
    }
    state.withLock { state in
      state.listeners[id] = nil
      state.connections.removeAll(ofListener: id)
    }
  }

  /// Closes the listening sockets, whose connections stay: each `serve` returns when its last has ended. For who leaves a
  /// socket to another process: what connects from now on waits in its queue.
  public func stopAccepting() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.channel.close(promise: nil) }
  }

  /// Stops accepting, lets the calls that are being answered go on for a while, then cancels them, and closes every
  /// connection. Calls that wait behind others are not begun. Returns at once; `serve` returns when all is done.
  ///
  /// - Parameter time: instead of the limits' `gracePeriod`.
  public func shutDown(within time: Duration? = nil) {
    let (listeners, connections) = state.withLock { state in
      state.isShuttingDown = true
      return (Array(state.listeners.values), state.connections.all)
    }
    for listener in listeners { listener.channel.close(promise: nil) }
    for connection in connections { connection.queue.end(dropping: true) }
    let time = time ?? limits.gracePeriod
    for listener in listeners {
      if time <= .zero {
        listener.steps.yield(.cancelAll)
      } else {
        // Not on its event loop: a listener whose calls have ended may have shut that down already.
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

  /// On the event loop: takes a connection in, or throws, upon which it is closed.
  private func admit(
    _ channel: any Channel, _ credentials: SocketCredentials?, listener: Int, _ steps: AsyncStream<Step>.Continuation
  ) throws {
    func refuse(_ refusal: Refusal) -> RefusedConnection {
      onEvent(.refused(refusal, uid: credentials?.uid, pid: credentials?.pid))
      return RefusedConnection()
    }
    guard let credentials else { throw refuse(.unknownPeer) }
    guard credentials.uid == allowedUserID else { throw refuse(.otherUser) }
    // Only this thread adds connections of this listener; with several listeners the limit may be passed by one each.
    let (count, countOfProcess, isShuttingDown, number) = state.withLock { state in
      state.lastNumber += 1
      let ofProcess = state.connections.count(ofProcess: credentials.pid)
      return (state.connections.count, ofProcess, state.isShuttingDown, state.lastNumber)
    }
    guard !isShuttingDown else { throw refuse(.shuttingDown) }
    guard count < limits.maximumConnections else { throw refuse(.tooManyConnections) }
    guard countOfProcess < limits.maximumConnectionsOfProcess else { throw refuse(.tooManyOfProcess) }
    let peer = VarlinkPeer(connection: number, uid: credentials.uid, gid: credentials.gid, pid: credentials.pid)
    let connection = try ServiceConnection(channel: channel, peer: peer, service: self)
    let isTooLate = state.withLock { state in
      state.connections.insert(
        .init(connection: connection, process: peer.pid, listener: listener), number: number)
      state.lastChange = .now()
      return state.isShuttingDown
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

  /// Ends each `serve` whose socket is closed and whose connections are gone.
  private func endIfDone() {
    let done = state.withLock { state in
      state.listeners.filter { state.connections.isEmpty(ofListener: $0.key) && !$0.value.channel.isActive }
        .map(\.value.steps)
    }
    for steps in done { steps.finish() }
  }

  // MARK: - What connections ask

  /// Closes a connection that holds more memory than any other.
  func evict(_ number: Int) {
    guard let connection = state.withLock({ $0.connections[number] }) else { return }
    onEvent(.evicted(connection.peer))
    // Not at once: it may be about to write.
    connection.messages.channel.eventLoop.execute { connection.messages.close() }
  }

  var idleTime: TimeAmount { TimeAmount(limits.idleTimeout) }

  /// The interface that answers a method, and the method.
  func resolve(_ qualified: String) -> Result<(any VarlinkInterface, VarlinkMethod), VarlinkError> {
    // The name comes back in the error.
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
  /// Without the interface's name.
  let name: String
  let shape: VarlinkShape
  let types: [String: VarlinkShape]
}

/// `struct ucred` of unix(7), as SO_PEERCRED fills it.
private struct SocketCredentials: Sendable {
  var pid: Int32 = 0
  var uid: UInt32 = 0
  var gid: UInt32 = 0
}

/// Reports why connections could not be accepted; the back-off behind that is NIO's.
private final class AcceptErrorHandler: ChannelInboundHandler {
  typealias InboundIn = any Channel
  private let onEvent: @Sendable (VarlinkService.Event) -> Void

  init(onEvent: @escaping @Sendable (VarlinkService.Event) -> Void) { self.onEvent = onEvent }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Errors of accepted channels come through here too; refusals were reported where they were decided.
    if error is IOError { onEvent(.acceptFailed(error)) }
  }
}
