import PhotoModel

// The processor time for the smart albums of persons.
//
// Any client can store a query that takes very long, for example one with `MATCHES`. Such an album must not keep others
// from being counted. So these albums share a part of the time of a read, and each has a budget of its own.
extension CatalogReader {
  /// The processor time for all smart albums of persons in one read.
  static let smartAlbumTime = Duration.seconds(1)

  /// Runs `body` for each album within a budget of its own.
  ///
  /// An album may use the time that is left, divided by the number of albums that follow and itself. The albums for which
  /// that is too little are tried a second time, with the time that the others have left over.
  ///
  /// - Returns: the albums that were not finished in this time. `body` may have ended anywhere.
  /// - Throws: `WorkBudget.Spent` if the budget of the whole read is spent, or an error from `body`.
  func forEachSmartAlbum<Album>(_ albums: [Album], _ body: (Album) throws -> Void) throws -> [Album] {
    let whole = WorkBudget.current
    // The rest of the read needs some of the time too.
    let time = min(Self.smartAlbumTime, whole.map { $0.left / 2 } ?? Self.smartAlbumTime)
    let all = WorkBudget(time, within: whole)
    var unfinished = albums
    for _ in 0..<2 where !unfinished.isEmpty {
      let tried = unfinished
      unfinished = []
      for (index, album) in tried.enumerated() {
        let share = all.left / (tried.count - index)
        let part = WorkBudget(share, within: whole)
        do {
          try WorkBudget.$current.withValue(part) {
            try ReadInterruption.watching(database, partOf: whole) { try body(album) }
          }
        } catch is WorkBudget.Spent {
          try whole?.check()
          unfinished.append(album)
        }
      }
    }
    return unfinished
  }
}

extension CollectionRow {
  /// Whether it is a smart album that a person made.
  var isOfPerson: Bool { query != nil }

  /// The problem of a smart album that was not counted.
  static let tooCostly =
    "The photos of this album were not counted, because finding them took too much processor time. Give the album a simpler query: a shorter predicate without MATCHES."
}
