/// The limits of org.photod.images, as its interface file states them.
package enum ImageLimits {
  /// The largest width or height of a frame.
  package static let maximumTarget = 16_384
  /// The most results of one reply.
  package static let resultsPerReply = 64
  /// The most results that wait for a session. Then it gets no more work.
  package static let maximumWaitingResults = 64
  /// The most bytes of these results, counted as they are sent.
  package static let maximumWaitingBytes = 4 << 20
  /// The most sessions of one process.
  package static let maximumSessionsOfClient = 16
  package static let maximumSessions = 256
  /// More requests in one call are TooManyRequests. The bound of the array is larger, so that the error can say so.
  package static let maximumRequestsOfCall = 1_000
  /// The most requests of a session that have no final result yet.
  package static let maximumRequests = 10_000
  package static let maximumCachingMembers = 50_000
  /// The most bytes of a picture in a result, before it is encoded.
  package static let maximumInlineBytes = 256 << 10
  /// While more than this is unread on a connection, its session gets no results. The kernel's overhead counts too.
  package static let unreadBytes = 32 << 10
  /// The longest page of ReadImage and ReadResource, before it is encoded.
  package static let pageBytes = 512 << 10
  /// The largest picture that MakeImages sends as data.
  package static let maximumDataBytes = 8 << 20
  /// The longest text of a call. 50,000 ids take a megabyte.
  package static let maximumCallBytes = 4 << 20
}
