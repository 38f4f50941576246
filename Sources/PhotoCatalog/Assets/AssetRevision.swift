/// The version of a file's content: a number that the file gets with each change that photod notices, and 0 before the
/// first one.
///
/// It is random, so no version comes again. A count would: a catalog that was rebuilt from the journal, or restored
/// from a backup, does not know the versions that were given since.
enum ContentVersion {
  static func new() -> Int64 { .random(in: 1 ... .max) }
}

/// The revision of an asset, made from the rows of its files in their order.
///
/// Each change of these columns is a commit in which the content or the metadata of the asset changed, with one
/// exception: a file that an old photod read gets its fingerprint later. So a client that follows the changes has the
/// present revision. The change time of a file is left out, because a rename changes it.
struct AssetRevision {
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

  mutating func add(orientation: Int64) { mix(UInt64(bitPattern: orientation)) }

  /// - Parameter first: the column of the size of a file. The modification time, the fingerprint, and the version of
  ///   its content follow it.
  mutating func add(_ row: RawStatement, from first: Int32) {
    for column in first..<first + 3 { mix(UInt64(bitPattern: row.int64(column))) }
    // An older photod had no versions. Before the first one, the revision and the kept pictures stay those of that
    // photod.
    let version = row.int64(first + 3)
    if version != 0 { mix(UInt64(bitPattern: version)) }
  }

  /// 13 digits of base 32, which are legal in file names. A string of up to 15 bytes needs no memory of its own.
  var text: String {
    let digits: StaticString = "0123456789abcdefghijklmnopqrstuv"
    return String(unsafeUninitializedCapacity: 13) { buffer in
      for index in 0..<13 { buffer[index] = digits.utf8Start[Int(state >> UInt64(60 - 5 * index) & 31)] }
      return 13
    }
  }

  /// One round of SplitMix64, in which each bit of the word changes half of the bits of the state.
  private mutating func mix(_ word: UInt64) {
    var mixed = (state ^ word) &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    state = mixed ^ mixed >> 31
  }
}
