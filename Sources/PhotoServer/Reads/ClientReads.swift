import PhotoCatalog
import PhotoLive
import PhotoModel
import Varlink

/// The read threads on behalf of one client. Every read of the catalog for a call goes through this.
struct ClientReads: ReadExecutor {
  let threads: ReadThreads
  /// The threads for long parameters. Decoding a call of 16 MiB takes some 250 MB, so only few are decoded at a time.
  let decoders: ReadThreads
  let peer: VarlinkPeer

  /// Runs work on the lists or the catalog as one job with one budget, such as a page.
  ///
  /// - Throws: the errors of ``ReadThreads/run(for:budget:_:)``.
  func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await threads.run(for: peer, work)
  }

  func read<Value: Sendable>(
    _ catalog: Catalog, _ body: @escaping @Sendable (CatalogReader) throws -> Value
  ) async throws -> Value {
    try await run { try catalog.read(body) }
  }

  /// The parameters of a call. A long text, such as a million ids, is also decoded on a read thread.
  func parameters<Parameters: Decodable & Sendable>(
    _ call: VarlinkServiceCall, _ type: Parameters.Type = Parameters.self
  ) async throws -> Parameters {
    guard call.parameterByteCount > Self.shortParameters else { return try call.parameters(type) }
    defer { call.releaseMessage() }
    return try await decoders.run(for: peer, isLong: call.parameterByteCount > Self.longParameters) {
      try call.parameters(type)
    }
  }

  static func makeDecoders() -> ReadThreads {
    ReadThreads(count: 2, budget: decodingBudget, waitsForCancelled: false)
  }

  /// Up to this many bytes, decoding takes less than a millisecond.
  private static let shortParameters = 16 << 10
  /// More bytes take longer than ``WorkBudget/longTime``.
  private static let longParameters = 256 << 10
  /// The general decoder cannot be interrupted. It takes about two seconds for the longest call.
  private static let decodingBudget = Duration.seconds(20)
}
