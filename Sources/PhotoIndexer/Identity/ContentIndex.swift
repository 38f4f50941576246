import PhotoModel

/// The contents of some files, for the question whether one of them may have a given content
/// (``ContentMarks/mayEqual(_:)``).
///
/// A search takes constant time. Pages of one scanner have equal sizes and fingerprints, so a linear search would compare
/// each of them with each other.
struct ContentIndex {
  /// Files that have one size.
  private struct Group {
    /// The hashes of the files with each sample. `nil` stands for a mark that a file does not have.
    var hashesBySample: [ContentDigest?: Set<ContentDigest?>] = [:]
    var hashes: Set<ContentDigest?> = []

    mutating func insert(_ marks: ContentMarks) {
      hashesBySample[marks.sample, default: []].insert(marks.hash)
      hashes.insert(marks.hash)
    }

    func mayContain(_ marks: ContentMarks) -> Bool {
      guard let sample = marks.sample else { return Self.mayContain(marks.hash, hashes) }
      return [sample, nil].contains { Self.mayContain(marks.hash, hashesBySample[$0] ?? []) }
    }

    private static func mayContain(_ hash: ContentDigest?, _ hashes: Set<ContentDigest?>) -> Bool {
      guard hash != nil else { return !hashes.isEmpty }
      return hashes.contains(hash) || hashes.contains(nil)
    }
  }

  private struct Size {
    var all = Group()
    var groups: [UInt64?: Group] = [:]
  }

  private var sizes: [Int64: Size] = [:]

  mutating func insert(_ marks: ContentMarks, byteCount: Int64) {
    sizes[byteCount, default: Size()].all.insert(marks)
    sizes[byteCount, default: Size()].groups[marks.fingerprint, default: Group()].insert(marks)
  }

  /// Whether a file of this size may have this content, as far as the marks of both are known.
  func mayContain(_ marks: ContentMarks, byteCount: Int64) -> Bool {
    guard let size = sizes[byteCount] else { return false }
    guard let fingerprint = marks.fingerprint else { return size.all.mayContain(marks) }
    return [fingerprint, nil].contains { size.groups[$0]?.mayContain(marks) ?? false }
  }
}
