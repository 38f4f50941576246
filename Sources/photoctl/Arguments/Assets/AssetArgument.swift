import ArgumentParser
import PhotoClient
import PhotoModel

/// An asset as the command line names it: by its id, or by the path of one of its files.
enum AssetArgument: ExpressibleByArgument, Hashable, Sendable {
  case id(AssetID)
  /// The path in its original spelling.
  case path(String)

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    if argument.utf8.allSatisfy({ (48...57).contains($0) }), let id = AssetID(argument) {
      self = .id(id)
    } else {
      self = .path(argument)
    }
  }
}

/// An argument that names an asset, and its place in the input.
struct NamedAsset: Hashable, Sendable {
  let argument: AssetArgument
  /// `line 3`, for standard input; `nil` for the command line.
  var place: String?

  init(_ argument: AssetArgument, at place: String? = nil) {
    self.argument = argument
    self.place = place
  }

  /// The problem, preceded by the place if the argument comes from standard input.
  func problem(_ text: String) -> String { place.map { "\($0): \(text)" } ?? text }
}

extension PhotoLibrary {
  /// The id of each name; `nil` for a path that no asset has. A number is taken as an id without a check.
  func findIDs(of names: [NamedAsset]) async throws -> [AssetID?] {
    let typed = names.compactMap { if case .path(let path) = $0.argument { path } else { nil } }
    var found: ArraySlice<AssetID?> = []
    if !typed.isEmpty {
      let folders = try await folders()
      found = try await findAssets(paths: typed.map { folders.text($0) })[...]
    }
    return names.map { name in
      switch name.argument {
      case .id(let id): id
      case .path: found.popFirst() ?? nil
      }
    }
  }

  /// The ids, in the order of the names, each once, with the first name of each.
  ///
  /// - Throws: ``Failure`` for the first path that no asset has.
  func ids(of names: [NamedAsset]) async throws -> (ids: [AssetID], names: [AssetID: NamedAsset]) {
    let found = try await findIDs(of: names)
    let missing = zip(names, found).filter { $0.1 == nil }.map(\.0)
    if let failure = Failure(notInLibrary: missing) { throw failure }
    var ids: [AssetID] = []
    var firstNames: [AssetID: NamedAsset] = [:]
    for (name, id) in zip(names, found) {
      if let id, firstNames.updateValue(firstNames[id] ?? name, forKey: id) == nil { ids.append(id) }
    }
    return (ids, firstNames)
  }
}

extension Failure {
  /// The failure for paths that no asset has; `nil` if there are none.
  init?(notInLibrary missing: [NamedAsset]) {
    guard let first = missing.first, case .path(let path) = first.argument else { return nil }
    if AbsolutePath.isFolder(path) {
      self.init(
        .noInput, first.problem("'\(Printable.text(path))' is a folder, and no photo"),
        remedy: "`photoctl query --under \(ShellWord.path(path))` lists the photos in it.")
      return
    }
    self.init(
      .noInput,
      first.problem("'\(Printable.text(path))' is not in the library")
        + (missing.count > 1
          ? ", nor \(missing.count == 2 ? "is" : "are") \(Text.count(missing.count - 1, "other", "others"))" : ""),
      remedy: "`photoctl why \(ShellWord.path(path))` has the reason. (A number alone is an id.)")
  }

  /// The failure for ids that no asset has, with the place of the first one; `nil` if there are none.
  init?(noSuchAssets ids: [AssetID], names: [AssetID: NamedAsset]) {
    guard let first = ids.first else { return nil }
    let problem = "no asset has the id \(first)"
    self.init(
      .noInput,
      (names[first]?.problem(problem) ?? problem)
        + (ids.count > 1 ? " or \(Text.count(ids.count - 1, "other id", "other ids"))" : ""),
      remedy: PhotoLibraryError.noSuchAsset(ids: ids).remedy)
  }
}

extension Asset {
  /// `/p/a.jpg (asset 42)`, for messages.
  var subject: String { listedPath.map { "\(Printable.text($0)) (asset \(id))" } ?? "asset \(id)" }
}

extension ShellWord {
  /// A path as a word of a command line, printable and quoted. A path that begins with a minus would be an option.
  static func path(_ path: String) -> String {
    let printable = Printable.text(path)
    return quoted(printable.hasPrefix("-") ? "./" + printable : printable)
  }
}
