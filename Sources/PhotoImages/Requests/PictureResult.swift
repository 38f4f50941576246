/// A result of a request. Each request gets exactly one final result, unless it is cancelled.
package struct PictureResult: Sendable {
  package enum Outcome: Sendable {
    case picture(Picture)
    /// A failure is always final. The message is a sentence or a clause for a person.
    case failure(kind: PictureFailureKind, message: String)
  }

  package var requestID: Int64
  package var isFinal: Bool
  package var outcome: Outcome

  package init(requestID: Int64, isFinal: Bool, outcome: Outcome) {
    self.requestID = requestID
    self.isFinal = isFinal
    self.outcome = outcome
  }
}

/// The kinds of `Failure` in `org.photod.images`.
package enum PictureFailureKind: String, Hashable, Sendable, CaseIterable {
  case noSuchAsset, unavailable, unreadable, unsupported, tooLarge, storageFull
}

package struct Picture: Sendable {
  package enum Content: Hashable, Sendable {
    /// The path of a file that stays readable for 60 s after ``ImageSession/takeResults()`` has returned it.
    case file(path: String)
    /// At most 256 KiB.
    case data([UInt8])
    /// ``ImageSession/readImage(_:offset:)`` has the bytes for 60 s.
    case stored(imageID: String)
  }

  package var content: Content
  /// image/jpeg or image/png.
  package var contentType: String
  package var width: Int
  package var height: Int
  package var byteCount: Int
  /// Whether the picture is smaller than the request asks for, although the file could give more.
  package var isDegraded: Bool
  /// The revision that the asset had when decoding began.
  package var revision: String

  package init(
    content: Content, contentType: String, width: Int, height: Int, byteCount: Int, isDegraded: Bool, revision: String
  ) {
    self.content = content
    self.contentType = contentType
    self.width = width
    self.height = height
    self.byteCount = byteCount
    self.isDegraded = isDegraded
    self.revision = revision
  }
}

/// The errors of calls that name a session. The errors of `org.photod.images` have the same names.
package enum ImageRequestError: Error, Hashable, Sendable {
  case noSuchSession
  case noSuchImage
  /// An id is not above the highest accepted one.
  case duplicateRequest(Int64)
  case tooManyRequests(limit: Int)
  case tooManySessions(limit: Int)
}

/// The numbers of `Statistics` in `org.photod.images`.
package struct PictureStatistics: Hashable, Sendable {
  package var sessions = 0
  /// The requests and members of caching sets whose work has not begun.
  package var queued = 0
  /// The pictures that threads look up or make now.
  package var running = 0
  /// The pictures that were decoded since the start. Embedded ones count.
  package var made = 0
  /// The final results that came from the store.
  package var cacheHits = 0
  package var failed = 0
  /// The pictures that were decoded for a request and never sent, because it was cancelled.
  package var undelivered = 0
  package var bytes: Int64 = 0
  package var maximumBytes: Int64 = 0

  package init() {}
}
