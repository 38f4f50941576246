package struct ClearedImages: Codable, Sendable {
  /// The bytes that were freed.
  package var byteCount: Int64

  package init(byteCount: Int64) { self.byteCount = byteCount }
}
