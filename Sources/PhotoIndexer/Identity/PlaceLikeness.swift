/// How near the place of a file is to that of a photo that it may be. The same path is nearest, then the same folder,
/// then the largest number of equal names from the end.
///
/// It decides between copies. If all of a library comes back in another folder, each copy finds the photo of its own
/// subfolder by the names from the end.
struct PlaceLikeness: Comparable {
  private enum Kind: Int {
    case elsewhere, sameFolder, samePath
  }

  private let kind: Kind
  private let equalNames: Int

  init(_ path: [UInt8], _ other: [UInt8]) {
    let (names, otherNames) = (path.split(separator: UInt8(ascii: "/")), other.split(separator: UInt8(ascii: "/")))
    kind =
      path == other ? .samePath : names.dropLast().elementsEqual(otherNames.dropLast()) ? .sameFolder : .elsewhere
    equalNames = zip(names.reversed(), otherNames.reversed()).prefix { $0 == $1 }.count
  }

  static func < (lhs: Self, rhs: Self) -> Bool {
    (lhs.kind.rawValue, lhs.equalNames) < (rhs.kind.rawValue, rhs.equalNames)
  }
}
