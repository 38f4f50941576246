import PhotoContract
import Synchronization
import Varlink

/// Pages of lists that several observers are sent at the same time: made by the first, and sent as they are to the others.
///
/// Of each list they are kept while somebody is being sent it; what would go beyond some megabytes is made anew by each.
package final class SharedPages: Sendable {
  package struct List: Hashable {
    /// The plan's key.
    let plan: String
    let sequence: Int64
  }

  package struct Page: Sendable {
    let observation: Observation
    let encoded: VarlinkEncoded

    /// About what it takes in memory.
    fileprivate var byteCount: Int { 512 + encoded.byteCount + 8 * (observation.ids?.count ?? 0) }
  }

  private struct State {
    var readers: [List: (count: Int, pages: [Int: Page])] = [:]
    var byteCount = 0
    var madeCount = 0
  }

  private let maximumBytes: Int
  private let state = Mutex(State())

  package init(maximumBytes: Int = 16 << 20) { self.maximumBytes = maximumBytes }

  package var byteCount: Int { state.withLock { $0.byteCount } }
  package var madeCount: Int { state.withLock { $0.madeCount } }

  /// Before the first page; as many calls of ``endReading(_:)`` follow.
  package func beginReading(_ list: List) { state.withLock { $0.readers[list, default: (0, [:])].count += 1 } }

  package func endReading(_ list: List) {
    state.withLock { state in
      guard let reader = state.readers[list] else { return }
      if reader.count > 1 {
        state.readers[list]?.count -= 1
      } else {
        state.byteCount -= reader.pages.values.reduce(0) { $0 + $1.byteCount }
        state.readers[list] = nil
      }
    }
  }

  /// - Parameter position: of its first asset.
  package func page(of list: List, at position: Int, _ make: () -> Page) -> Page {
    if let page = state.withLock({ $0.readers[list]?.pages[position] }) { return page }
    let page = make()
    return state.withLock { state in
      state.madeCount += 1
      // Somebody may have made it meanwhile.
      if let same = state.readers[list]?.pages[position] { return same }
      if state.readers[list] != nil, state.byteCount + page.byteCount <= maximumBytes {
        state.readers[list]?.pages[position] = page
        state.byteCount += page.byteCount
      }
      return page
    }
  }
}
