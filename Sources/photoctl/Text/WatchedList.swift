import PhotoClient
import PhotoContract
import PhotoModel

/// A watched list in the state of its last line, so that the watch can continue there with the next photod.
struct WatchedList {
  /// The token of the last line.
  private(set) var token: String?
  private var digest: String?
  /// The list itself; nil if only its token was given, and no list has come yet.
  private var replica: FetchResultReplica?
  /// While a list comes in pages: the list so far, and the first page's observation.
  private var pages: (list: FetchResultReplica, first: Observation)?

  /// - Parameters:
  ///   - token: the token from which to continue.
  ///   - digest: the digest of the list at `token`, if it is known.
  ///   - ids: the list at `token`, if it is known.
  init(since token: String?, digest: String? = nil, ids: [AssetID]? = nil) {
    self.token = token
    self.digest = digest
    if let token {
      replica = ids.map { FetchResultReplica(ids: $0, token: token) }
    } else {
      replica = FetchResultReplica()
    }
  }

  /// Observes the list, continuing from the known state.
  mutating func observe(_ options: FetchOptions, in library: PhotoLibrary) -> LibraryReplies<Observation> {
    pages = nil
    if let replica { return library.observe(options, resuming: replica, objects: true) }
    return library.observe(options, since: token, sinceDigest: digest, objects: true)
  }

  /// Returns the observation to print: each difference, and a list once it is complete. A program that stores the last
  /// line with its token can continue from there.
  ///
  /// - Throws: ``Failure`` if the observation does not fit the list.
  mutating func take(_ observation: Observation) throws -> Observation? {
    var printed = observation
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
        (printed.previousToken, printed.reload) = (first?.previousToken, first?.reload)
        (printed.offset, printed.ids) = (0, list.ids)
      }
    }
    token = observation.token
    digest = observation.digest
    return printed
  }

  static func failure(_ error: FetchResultReplica.OutOfStep) -> Failure {
    Failure(
      .protocolFailure, error.description, remedy: "Watch again. If this message comes again, it is a bug of photod.",
      command: "watch")
  }
}

/// Parses the ids of `--since-ids`.
enum ListedIDs {
  /// Parses ids separated by white space or commas, or in a JSON array.
  ///
  /// - Parameter name: the name of the file, for errors.
  /// - Throws: ``Failure`` for any other input, and for an id that occurs twice.
  static func parse(_ bytes: [UInt8], name: String) throws -> [AssetID] {
    var ids: [AssetID] = []
    var line = 1
    let words = bytes.split(omittingEmptySubsequences: true) { byte in
      " \t\r\n,[]".utf8.contains(byte)
    }
    for word in words {
      guard let id = AssetID(String(decoding: word, as: UTF8.self)), id > 0 else {
        line += bytes[..<word.startIndex].count { $0 == UInt8(ascii: "\n") }
        let shown = Printable.text(String(decoding: word.prefix(40), as: UTF8.self))
        throw Failure(
          .data, "line \(line) of \(name): '\(shown)' is no id",
          remedy:
            "The file must have the ids of the list at the token of --since, in their order, one on each line or as a JSON array."
        )
      }
      ids.append(id)
    }
    guard Set(ids).count == ids.count else {
      throw Failure(
        .data, "\(name) has an id twice",
        remedy: "A list has each id once. Without --since-ids, the first line has the list.")
    }
    return ids
  }
}
