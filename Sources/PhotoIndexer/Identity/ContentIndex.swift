import PhotoModel

/// The contents of some files, for the question whether one of them may have a given content
/// (``ContentMarks/mayEqual(_:)``).
///
/// A search takes constant time, unless the given content has no fingerprint. Pages of one scanner have equal sizes and
/// fingerprints, so a linear search would compare each of them with each other.
struct ContentIndex {
  /// The files that have one size and one fingerprint.
  private struct Group {
    /// The hashes of the files with each sample. `nil` stands for a mark that a file does not have.
    var hashesBySample: [ContentDigest?: Set<ContentDigest?>] = [:]
    var hashes: Set<ContentDigest?> = []

    func mayContain(_ marks: ContentMarks) -> Bool {
      guard let sample = marks.sample else { return Self.mayContain(marks.hash, hashes) }
      return [sample, nil].contains { Self.mayContain(marks.hash, hashesBySample[$0] ?? []) }
    }

    private static func mayContain(_ hash: ContentDigest?, _ hashes: Set<ContentDigest?>) -> Bool {
      guard hash != nil else { return !hashes.isEmpty }
      return hashes.contains(hash) || hashes.contains(nil)
    }
  }

  private var groups: [Int64: [UInt64?: Group]] = [:]

  mutating func insert(_ marks: ContentMarks, byteCount: Int64) {
    var group = groups[byteCount, default: [:]].removeValue(forKey: marks.fingerprint) ?? Group()
    group.hashesBySample[marks.sample, default: []].insert(marks.hash)
    group.hashes.insert(marks.hash)
    groups[byteCount, default: [:]][marks.fingerprint] = group
  }

  /// Whether a file of this size may have this content, as far as the marks of both are known.
  func mayContain(_ marks: ContentMarks, byteCount: Int64) -> Bool {
    guard let sameSize = groups[byteCount] else { return false }
    guard let fingerprint = marks.fingerprint else { return sameSize.values.contains { $0.mayContain(marks) } }
    return [fingerprint, nil].contains { sameSize[$0]?.mayContain(marks) ?? false }
  }
}
