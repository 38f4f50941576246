/// The limits of org.photod.images, as its interface file states them.
package enum ImageLimits {
  /// The largest width or height of a frame.
  package static let maximumTarget = 16_384
  /// The most results of one reply.
  package static let resultsPerReply = 64
  /// While more than this is unread on a connection, its session gets no results. The kernel's overhead counts too.
  package static let unreadBytes = 32 << 10
  /// The longest page of ReadImage and ReadResource, before it is encoded.
  package static let pageBytes = 512 << 10
  /// The largest picture that MakeImages sends as data.
  package static let maximumDataBytes = 8 << 20
  /// The longest text of a call. 50,000 ids take a megabyte.
  package static let maximumCallBytes = 4 << 20
}
