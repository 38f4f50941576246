import PhotoClient
import PhotoModel

/// A list that is watched: what its last line said, so that the next photod goes on from there.
struct WatchedList {
  /// Every line is true of this.
  private(set) var token: String?
  private var digest: String?
  /// The list itself; nil where only its token was given, and no list came yet.
  private var replica: FetchResultReplica?
  /// While a list comes in pages: with what came of it, and what its first page said.
  private var pages: (list: FetchResultReplica, first: Observation)?

  /// - Parameters:
  ///   - token: to go on from.
  ///   - digest: of the list at `token`, where that is known.
  ///   - ids: the list at `token`, where that is known.
  init(since token: String?, digest: String? = nil, ids: [Int64]? = nil) {
    self.token = token
    self.digest = digest
    if let token {
      replica = ids.map { FetchResultReplica(ids: $0, token: token) }
    } else {
      replica = FetchResultReplica()
    }
  }

  /// The list as it is in the library, from what this one knows.
  mutating func observe(_ options: FetchOptions, in library: PhotoLibrary) -> LibraryReplies<Observation> {
    pages = nil
    if let replica { return library.observe(options, resuming: replica, objects: true) }
    return library.observe(options, since: token, sinceDigest: digest, objects: true)
  }

  /// What is to be told: differences as they come, and a list once it is whole. Who stores what the last line told, and
  /// its token, can go on from there.
  ///
  /// - Throws: ``Failure`` where what came does not fit.
  mutating func take(_ observation: Observation) throws -> Observation? {
    var told = observation
    if observation.ids != nil || replica != nil {
      var list = pages?.list ?? replica ?? FetchResultReplica()
      let step: FetchResultReplica.Step
      do { step = try list.apply(observation) } catch { throw Self.failure(error) }
      let first = observation.offset == 0 ? observation : pages?.first
      if step == .partOfList {
        pages = (list, first ?? observation)
        return nil
      }
      (pages, replica) = (nil, list)
      if case .list = step {
        (told.previousToken, told.reload) = (first?.previousToken, first?.reload)
        (told.offset, told.ids) = (0, list.ids)
      }
    }
    token = observation.token
    digest = observation.digest
    return told
  }

  static func failure(_ error: FetchResultReplica.OutOfStep) -> Failure {
    Failure(
      .protocolFailure, error.description, remedy: "Watch again; if it comes again, that is a bug of photod.",
      command: "watch")
  }
}

/// Ids as text: of `--since-ids`.
enum ListedIDs {
  /// Reads ids with white space or commas between them, also as a JSON array.
  ///
  /// - Parameter name: of the file, for what is wrong with it.
  /// - Throws: ``Failure`` for anything else, and for an id that is there twice.
  static func parse(_ bytes: [UInt8], name: String) throws -> [Int64] {
    var ids: [Int64] = []
    var line = 1
    let words = bytes.split(omittingEmptySubsequences: true) { byte in
      " \t\r\n,[]".utf8.contains(byte)
    }
    for word in words {
      guard let id = Int64(String(decoding: word, as: UTF8.self)), id > 0 else {
        line += bytes[..<word.startIndex].count { $0 == UInt8(ascii: "\n") }
        let shown = Printable.text(String(decoding: word.prefix(40), as: UTF8.self))
        throw Failure(
          .data, "line \(line) of \(name): '\(shown)' is no id",
          remedy: "It has the ids of the list at the token of --since, in their order, one a line or as a JSON array.")
      }
      ids.append(id)
    }
    guard Set(ids).count == ids.count else {
      throw Failure(
        .data, "\(name) has an id twice", remedy: "A list has every id once; leave --since-ids out to begin anew.")
    }
    return ids
  }
}
