import PhotoCatalog
import PhotoModel

/// The rule by which a file's content proves that it is a photo that is known already.
///
/// Identity passes from one file to another for one of three reasons, and for no other:
/// 1. Both have the same inode and birth time. ``Reconciler`` judges this, because inodes are used again.
/// 2. Their hashes of the whole content are equal.
/// 3. Size, name, modification time (in nanoseconds) and sample are equal, and exactly one candidate has all of them. This
///    covers what keeps the modification time: `mv` across disks, the Trash, `cp -p`, rsync.
///
/// Two pages of one scanner share size and fingerprint. So the fingerprint only finds candidates.
///
/// A sample or a hash belongs to the size, modification time, change time and inode of its file. If one of them differs, it is
/// void (see ``ContentMarks/voided``, and ``CatalogWriter/keepMarks(of:)``). There are three exceptions:
/// 1. A rename that was reported changes only the change time. The marks stay valid if no event may have been lost and no
///    write was reported (`Reconciler.isExplainedByRename(_:_:in:)`). Otherwise each renamed photo would be read again.
/// 2. Some file systems, such as FAT, give out new inodes at a mount and do not store the change time. There, the marks stay
///    valid if rule 3 of `FileRow+Stat.swift` holds. Otherwise a card would be read again after each mount.
/// 3. If a file has been changed and can't be read yet, its row keeps the marks of the content that was read last. The next
///    reading is compared with them. If size and modification time are the same, all of them stay. Otherwise only the
///    fingerprint does.
enum IdentityProof {
  /// The properties that the rule compares.
  struct Description {
    /// The name without its directory.
    var name: [UInt8]
    /// The size, or nil if it is not known.
    var byteCount: Int64?
    var modificationTime: WallTime
    var marks: ContentMarks
  }

  enum Verdict: Equatable {
    /// The whole contents are equal.
    case equal
    /// Size, name, modification time and sample are equal: a proof if no other candidate has them.
    case alike
    /// Size, name and modification time are equal, but at least one of the files has no sample. Nothing proves yet whether
    /// their contents are equal.
    case undecided
    /// The files differ, or too little is equal.
    case unproven
  }

  static func compare(_ one: Description, _ other: Description) -> Verdict {
    guard let size = one.byteCount, size == other.byteCount, one.marks.mayEqual(other.marks) else { return .unproven }
    if one.marks.hash != nil && other.marks.hash != nil { return .equal }
    guard one.modificationTime == other.modificationTime, one.name == other.name else { return .unproven }
    return one.marks.sample != nil && other.marks.sample != nil ? .alike : .undecided
  }

  /// The candidates that are proven to be the photo: all with equal content, else the only one that is alike.
  ///
  /// - Parameter areAll: false if there may be further candidates. One of them may be alike, too, so that only equal content
  ///   is a proof.
  static func proven<Candidate>(
    among candidates: [Candidate], areAll: Bool, as file: Description, _ description: (Candidate) -> Description
  ) -> [Candidate] {
    var (equal, alike, undecidedCount) = ([Candidate](), [Candidate](), 0)
    for candidate in candidates {
      switch compare(description(candidate), file) {
      case .equal: equal.append(candidate)
      case .alike: alike.append(candidate)
      case .undecided: undecidedCount += 1
      case .unproven: break
      }
    }
    if !equal.isEmpty { return equal }
    return areAll && alike.count == 1 && undecidedCount == 0 ? alike : []
  }
}

extension IdentityProof.Description {
  init(_ row: FileRow) {
    self.init(name: row.name, byteCount: row.byteCount, modificationTime: row.modificationTime, marks: row.marks)
  }

  init(_ tombstone: Tombstone) {
    let name = tombstone.path.lastIndex(of: UInt8(ascii: "/")).map { tombstone.path[($0 + 1)...] }
    self.init(
      name: name.map(Array.init) ?? tombstone.path, byteCount: tombstone.byteCount,
      modificationTime: tombstone.modificationTime, marks: tombstone.marks)
  }
}
