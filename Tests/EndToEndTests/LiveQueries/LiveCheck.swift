import PhotoClient
import PhotoModel
import PhotoTestSupport
import Testing

/// Compares the lists of clients with a fetch. A commit reaches clients without a request of theirs, so the check waits
/// for it.
struct LiveCheck: Sendable {
  private let library: PhotoLibrary
  private let story: String

  /// - Parameters:
  ///   - socket: the socket of the daemon.
  ///   - story: the past events, for the reader of a failure.
  init(socket: String, story: String) {
    library = PhotoLibrary(socketPath: socket)
    self.story = story
  }

  struct OutOfStep: Error, CustomStringConvertible { let description: String }

  func expectInStep(_ fetch: ObservedFetch) async throws {
    try await wait {
      let fetched = try await ids(fetch.options)
      let objects = fetch.holdsObjects && fetched != nil ? try await assets(fetch.options) : nil
      return {
        let state = fetch.state
        if let failure = state.failure { throw OutOfStep(description: "\(story): \(failure), \(fetch.options)") }
        if state.answer == .noSuchCollection, fetched == nil { return nil }
        let ids = state.replica.ids
        guard state.answer != nil, ids == fetched ?? [] else {
          return
            "\(ids.count) ids instead of \(fetched.map { "\($0.count)" } ?? "none")\(difference(ids, fetched ?? []))"
        }
        guard let objects else { return nil }
        let other = zip(ids, objects).first { state.objects[$0] != $1 }
        return other.map { "\(String(describing: state.objects[$0])) instead of \($1)" }
      }
    } of: {
      "\(fetch.options) at \(fetch.state.replica.token ?? "nothing")"
    }
  }

  private func difference(_ ids: [AssetID], _ fetched: [AssetID]) -> String {
    let (more, less) = (Set(ids).subtracting(fetched).sorted(), Set(fetched).subtracting(ids).sorted())
    return ", not \(more.prefix(5)), but \(less.prefix(5))"
  }

  func expectInStep(_ list: ObservedAlbums) async throws {
    try await wait {
      let fetched = try await library.collections(kinds: list.kinds)
      return {
        let collections = try list.collections
        guard collections != fetched else { return nil }
        let other = zip(collections, fetched).first { $0 != $1 }
        return "\(collections.count) collections instead of \(fetched.count), \(String(describing: other))"
      }
    } of: {
      "collections \(String(describing: list.kinds))"
    }
  }

  /// - Parameters:
  ///   - fetch: fetches, and returns a function that describes how a client's list differs from it, or returns nil.
  ///   - name: the name of the client.
  private func wait(
    _ fetch: () async throws -> () throws -> String?, of name: () -> String
  ) async throws {
    var words: String?
    try await eventually("\(story): \(words ?? ""); \(name())", every: .zero) {
      let difference = try await fetch()
      do {
        // Nothing reports that a client has received and applied an observation, so its list is polled.
        try await eventually("it is in step", within: .milliseconds(500), every: .milliseconds(5)) {
          words = try difference()
          return words == nil
        }
        return true
      } catch is ConditionNotMet {
        // The library may have changed since the fetch, so the list is fetched again.
        return false
      }
    }
  }

  /// The ids, or nil if the collection no longer exists.
  private func ids(_ options: FetchOptions) async throws -> [AssetID]? {
    do {
      var ids: [AssetID] = []
      for try await page in library.fetchIDs(options) { ids += page.ids }
      return ids
    } catch PhotoLibraryError.noSuchCollection {
      return nil
    }
  }

  private func assets(_ options: FetchOptions) async throws -> [Asset] {
    var assets: [Asset] = []
    for try await page in library.fetch(options) { assets += page.assets }
    return assets
  }
}
