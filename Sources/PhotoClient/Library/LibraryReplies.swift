import Varlink

/// The replies to a streaming call of ``PhotoLibrary``, one element after another.
///
/// Each iteration makes its own connection and call. Leaving the loop, or cancelling its task, closes the connection,
/// which ends the call in the daemon. A cancelled task gets no more elements, also if some have arrived. A slow reader
/// costs the daemon only bounded memory.
public struct LibraryReplies<Element: Sendable>: AsyncSequence, Sendable {
  /// Connects, calls, and returns a function that gives the next element.
  private let start: @Sendable () async throws -> () async throws -> Element?
  private let path: String

  init<P: Encodable & Sendable, Wire: Decodable & Sendable>(
    path: String, method: String, _ parameters: P, of wire: Wire.Type,
    _ element: @escaping @Sendable (Wire) -> Element
  ) {
    self.path = path
    start = {
      let client = try await VarlinkClient.connect(path: path)
      var replies = client.stream(method, parameters, of: wire).makeAsyncIterator()
      return { try await replies.next().map(element) }
    }
  }

  /// Connects when the first element is asked for.
  ///
  /// - Complexity: O(1)
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(start: start, path: path) }

  /// The iterator. It holds the connection of the call.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let start: @Sendable () async throws -> () async throws -> Element?
    private var nextElement: (() async throws -> Element?)?
    private var isOver = false
    private let path: String

    fileprivate init(start: @escaping @Sendable () async throws -> () async throws -> Element?, path: String) {
      (self.start, self.path) = (start, path)
    }

    /// The next element; nil after the last one.
    ///
    /// - Throws: ``PhotoLibraryError`` or `CancellationError`, which ends the sequence.
    public mutating func next() async throws -> Element? {
      guard !isOver else { return nil }
      do {
        let next: () async throws -> Element?
        if let nextElement {
          next = nextElement
        } else {
          next = try await start()
          nextElement = next
        }
        if let element = try await next() { return element }
        end()
        return nil
      } catch {
        end()
        throw PhotoLibraryError.translated(error, at: path)
      }
    }

    private mutating func end() {
      isOver = true
      nextElement = nil
    }
  }
}
