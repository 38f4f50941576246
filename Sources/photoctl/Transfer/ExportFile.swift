import PhotoModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An export that was read and checked.
struct ExportFile {
  /// A value, and the number of its line.
  struct Numbered<Value> {
    let line: Int
    let value: Value
  }

  let library: ExportedLibrary
  private(set) var photos: [Numbered<ExportedPhoto>] = []
  private(set) var collections: [Numbered<ExportedCollection>] = []

  private struct Kind: Decodable { let kind: String }

  /// - Parameter name: the name of the file, for errors.
  /// - Throws: ``Failure`` for a line that is malformed, an export that is incomplete, or one of a later format.
  init(_ bytes: [UInt8], name: String) throws {
    var rest = bytes[...]
    var number = 0
    var library: ExportedLibrary?
    var end: ExportedEnd?
    while !rest.isEmpty {
      var line = rest.prefix { $0 != UInt8(ascii: "\n") }
      rest = rest.dropFirst(line.count + 1)
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      number += 1
      guard !line.isEmpty else { continue }
      let data = Data(line)
      func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do { return try JSONDecoder().decode(type, from: data) } catch {
          throw Self.malformed("line \(number) of \(name) is no line of an export: \(Self.reason(error))")
        }
      }
      guard end == nil else { throw Self.malformed("line \(number) of \(name) follows the end of the export") }
      let kind = try decoded(Kind.self).kind
      guard library != nil || kind == ExportedLibrary.kind else {
        throw Self.malformed("\(name) does not begin with the line of an export's library")
      }
      switch kind {
      case ExportedLibrary.kind:
        guard library == nil else { throw Self.malformed("line \(number) of \(name) begins another export") }
        library = try decoded(ExportedLibrary.self)
        guard library?.format == ExportedLibrary.currentFormat else {
          throw Failure(
            .data, "\(name) is an export of another version of photoctl", remedy: "Import it with that version.",
            command: "import")
        }
      case ExportedPhoto.kind:
        let photo = try decoded(ExportedPhoto.self)
        if let problem = photo.problem { throw Self.malformed("line \(number) of \(name): \(problem)") }
        photos.append(Numbered(line: number, value: photo))
      case ExportedEnd.kind: end = try decoded(ExportedEnd.self)
      default: collections.append(Numbered(line: number, value: try decoded(ExportedCollection.self)))
      }
    }
    guard let library else { throw Self.malformed("\(name) is empty") }
    guard let end, end.photoCount == photos.count, end.collectionCount == collections.count else {
      throw Self.malformed("\(name) is incomplete: lines are missing before its end")
    }
    self.library = library
    try checkReferences(name)
  }

  private static func malformed(_ problem: String) -> Failure {
    Failure(.data, problem, remedy: "Make it again with `photoctl export`.", command: "import")
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, _): "'\(Printable.text(key.stringValue))' is missing"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "'\(member(context))' has a wrong type"
    case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
      "'\(member(context))' has a wrong value"
    default: "it is not JSON"
    }
  }

  private static func member(_ context: DecodingError.Context) -> String {
    Printable.text(context.codingPath.map(\.stringValue).joined(separator: "."))
  }

  /// A photo or a folder that a collection names must be in the export, and a cover must be in its album.
  private func checkReferences(_ name: String) throws {
    let known = Set(photos.map(\.value.id))
    guard known.count == photos.count else { throw Self.malformed("two photos of \(name) have the same id") }
    var folders: Set<CollectionID> = []
    var seen: Set<CollectionID> = []
    for numbered in collections {
      let collection = numbered.value
      func fail(_ problem: String) -> Failure { Self.malformed("line \(numbered.line) of \(name) \(problem)") }
      guard seen.insert(collection.id).inserted else { throw fail("has the id of an earlier album") }
      if let parent = collection.parentID, !folders.contains(parent) {
        throw fail("is in the folder \(parent), which is not before it")
      }
      if collection.kind == .folder { folders.insert(collection.id) }
      if collection.kind == .smartAlbum, collection.query == nil { throw fail("has no query") }
      if let unknown = collection.photos?.first(where: { !known.contains($0) }) {
        throw fail("names the photo \(unknown), which is not in the export")
      }
      if let cover = collection.keyPhoto, collection.photos?.contains(cover) != true {
        throw fail("has the cover \(cover), which is not one of its photos")
      }
    }
  }
}

extension ExportedPhoto {
  /// Why photod would reject it.
  fileprivate var problem: String? {
    if let rating, !(0...5).contains(rating) { return "the rating is \(rating); it must be 0 to 5" }
    if let location, !(-90...90).contains(location.latitude) || !(-180...180).contains(location.longitude) {
      return "there is no such place on earth"
    }
    if location != nil, hasNoLocation == true { return "the photo has a location and has none" }
    return nil
  }
}
