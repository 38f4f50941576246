import PhotoClient

/// The statistics of pictures for a person.
enum ImagesText {
  static func text(_ statistics: ImageStatistics) -> String {
    let rows = [
      ("sessions", "\(statistics.sessions)"),
      ("queued", Text.grouped(statistics.queued)), ("running", "\(statistics.running)"),
      ("made", Text.grouped(statistics.made)), ("cache hits", Text.grouped(statistics.cacheHits)),
      ("failed", Text.grouped(statistics.failed)), ("undelivered", Text.grouped(statistics.undelivered)),
      ("kept", "\(byteText(statistics.bytes)) of \(byteText(statistics.maximumBytes))"),
    ]
    return rows.map { name, value in "\(name):\(String(repeating: " ", count: 13 - name.count))\(value)\n" }.joined()
  }
}
