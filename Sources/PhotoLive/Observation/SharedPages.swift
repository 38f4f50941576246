import PhotoContract
import Synchronization
import Varlink

/// Pages of lists that are being sent to several observers at the same time. The first observer encodes a page, and the
/// others send the same bytes.
///
/// The pages of a list are kept while it is being sent to an observer. Above a bound of some megabytes, each observer
/// encodes its own pages.
package final class SharedPages: Sendable {
  package struct List: Hashable {
    /// The plan's key.
    let plan: String
    /// All pages of a list have its token. At the end of an epoch, the same list gets another one.
    let token: String
  }

  package struct Page: Sendable {
    let observation: Observation
    let encoded: VarlinkEncoded

    /// About how much memory the page takes, in bytes.
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

  /// Must be called before the first page. Each call needs a later call of ``endReading(_:)``.
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

  /// - Parameter position: the position of the page's first asset.
  package func page(of list: List, at position: Int, _ make: () -> Page) -> Page {
    if let page = state.withLock({ $0.readers[list]?.pages[position] }) { return page }
    let page = make()
    return state.withLock { state in
      state.madeCount += 1
      // Another task may have made the same page in the meantime.
      if let same = state.readers[list]?.pages[position] { return same }
      if state.readers[list] != nil, state.byteCount + page.byteCount <= maximumBytes {
        state.readers[list]?.pages[position] = page
        state.byteCount += page.byteCount
      }
      return page
    }
  }
}
