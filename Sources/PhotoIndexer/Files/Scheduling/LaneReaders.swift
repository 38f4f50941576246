import PhotoCatalog

/// Makes the readers that read files ahead. Each lane has one, so that a share whose files are read slowly delays no other.
struct LaneReaders: Sendable {
  /// The reader of the lane that exists from the beginning.
  let first: ReadAhead
  private let make: @Sendable () -> ReadAhead

  init(catalog: Catalog, files: any PhotoFiles, knownInodes: KnownInodes) {
    make = { ReadAhead(catalog: catalog, files: files, knownInodes: knownInodes) }
    first = make()
  }

  /// The reader for a lane that begins.
  func reader(ofLane number: Int) -> ReadAhead { number == 0 ? first : make() }
}
