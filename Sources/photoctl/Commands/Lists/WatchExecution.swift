import PhotoClient
import PhotoModel

/// Runs a command for each commit of the library, or for each photo in it. It keeps the token of the last commit whose
/// commands have all succeeded.
struct WatchExecution {
  /// One line of a command's input.
  struct Item: Encodable, Hashable {
    enum Change: String, Encodable { case inserted, updated, deleted, renamed, online, offline }

    let change: Change
    /// nil for a folder.
    var id: AssetID?
    /// In the form of the contract. nil for a photo that has left the library, unless this watch has seen it.
    var path: String?
    /// The former path, if this watch knows that it was another.
    var fromPath: String?
  }

  private let command: String
  private let options: ExecOptions
  private let file: StateFile
  /// The photos to handle; nil for all.
  private let filter: FilterOptions?
  /// The token at which the first run begins; nil for the current one.
  private let start: String?
  /// All commits up to this token are handled.
  private(set) var token: String?
  private var paths = CommitPaths()

  init(_ command: String, _ options: ExecOptions, _ file: StateFile, filter: FilterOptions?, since start: String?) {
    self.command = command
    self.options = options
    self.file = file
    self.filter = filter
    self.start = start
  }

  mutating func follow(_ library: PhotoLibrary) async throws {
    if token == nil {
      if let stored = try file.token() {
        token = stored
      } else if let start {
        try advance(start)
      } else {
        try advance(try await library.status().token)
      }
    }
    try await paths.load(from: library)
    do {
      for try await page in library.persistentChanges(since: token, follow: true) {
        for change in page.changes {
          try await handle(change, library)
          try advance(change.token)
        }
        try advance(page.token)
      }
    } catch PhotoLibraryError.changeTokenExpired(let message, let current) {
      throw Failure(
        .data, "the token in \(file.name) has expired. \(message)",
        remedy: "Handle all photos anew, and remove the file. The current token is \(current).", command: "watch")
    }
  }

  private mutating func advance(_ token: String) throws {
    guard token != self.token else { return }
    try file.store(token)
    self.token = token
  }

  private mutating func handle(_ change: PersistentChange, _ library: PhotoLibrary) async throws {
    let items = try await items(of: change, library)
    await library.disconnect()
    // With a query, most commits concern no photo of it. Without one, a commit of photod itself has no lines if empty
    // folders came or went. A client's commit without lines changes albums.
    if items.isEmpty, filter != nil || options.each || !change.origin.hasPrefix("client:") { return }
    if options.each {
      for item in items { try await run(change, [item], variables: Self.variables(of: item)) }
    } else {
      func count(_ kind: Item.Change) -> [UInt8] { Array("\(items.count { $0.change == kind })".utf8) }
      try await run(
        change, items,
        variables: [
          "PHOTOD_INSERTED": count(.inserted), "PHOTOD_UPDATED": count(.updated), "PHOTOD_DELETED": count(.deleted),
        ])
    }
  }

  /// The photos of a commit, and the folders that stand for the photos in them.
  private mutating func items(of change: PersistentChange, _ library: PhotoLibrary) async throws -> [Item] {
    let wanted = try await matching(change.insertedAssets + change.updatedAssets, library)
    let ids = (change.insertedAssets + change.updatedAssets).filter { wanted?.contains($0) ?? true }
    let paths = try await self.paths.advance(over: change, touching: ids, in: library)
    func items(_ ids: [AssetID], _ kind: Item.Change) -> [Item] {
      ids.filter { wanted?.contains($0) ?? true }.map { id in
        Item(change: kind, id: id, path: paths.now[id], fromPath: paths.before[id])
      }
    }
    var all = items(change.insertedAssets, .inserted) + items(change.updatedAssets, .updated)
    // Nothing says whether a deleted photo belonged to the query.
    if filter == nil {
      all += change.deletedAssets.map { Item(change: .deleted, id: $0, path: paths.before[$0]) }
      all += change.renamedDirectories.map { Item(change: .renamed, path: $0.toPath, fromPath: $0.fromPath) }
      all += change.rootAvailability.map { Item(change: $0.available ? .online : .offline, path: $0.path) }
    }
    return all
  }

  /// The ids that the query selects now; nil without a query.
  private func matching(_ ids: [AssetID], _ library: PhotoLibrary) async throws -> Set<AssetID>? {
    guard let filter else { return nil }
    var options = try await filter.inFolders(of: library, mayAppear: true).fetchOptions()
    let predicate = options.predicate.map { "(\($0)) AND " } ?? ""
    var found: Set<AssetID> = []
    var rest = ids[...]
    while !rest.isEmpty {
      let asked = rest.prefix(Self.idsAtOnce).map(String.init).joined(separator: ", ")
      options.predicate = predicate + "id IN {\(asked)}"
      for try await page in library.fetchIDs(options) { found.formUnion(page.ids) }
      rest = rest.dropFirst(Self.idsAtOnce)
    }
    return found
  }

  /// A predicate has at most 5,000 values and 64 KiB, some of which the query may need.
  private static let idsAtOnce = 1_000

  private func run(_ change: PersistentChange, _ items: [Item], variables: [String: [UInt8]]) async throws {
    var all: [String: [UInt8]?] = [
      "PHOTOD_INSERTED": nil, "PHOTOD_UPDATED": nil, "PHOTOD_DELETED": nil, "PHOTOD_CHANGE": nil, "PHOTOD_ID": nil,
      "PHOTOD_PATH": nil, "PHOTOD_FROM_PATH": nil, "PHOTOD_TOKEN": Array(change.token.utf8),
      "PHOTOD_ORIGIN": Array(change.origin.utf8), "PHOTOD_DATE": Array(change.date.description.utf8),
    ]
    for (name, value) in variables { all[name] = .some(value) }
    var lines: [UInt8] = []
    for item in items { lines += try JSONText.line(item) + [UInt8(ascii: "\n")] }
    var pause = Duration.seconds(1)
    while true {
      let end = try file.withInput(lines) { try ShellCommand.run(command, variables: all, input: $0) }
      guard let end else { return }
      guard options.retry else {
        throw Failure(
          .commandFailed, "the command failed (\(end))",
          remedy: "The token in \(file.name) is that of the commit before. The same command line runs it again.",
          command: "watch")
      }
      Output.complain("photoctl: the command failed (\(end)). It is run again in \(pause.components.seconds) s.\n")
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(60))
    }
  }

  private static func variables(of item: Item) -> [String: [UInt8]] {
    var variables = ["PHOTOD_CHANGE": Array(item.change.rawValue.utf8)]
    variables["PHOTOD_ID"] = item.id.map { Array("\($0)".utf8) }
    variables["PHOTOD_PATH"] = item.path.map { FilePath.bytes($0) }
    variables["PHOTOD_FROM_PATH"] = item.fromPath.map { FilePath.bytes($0) }
    return variables
  }
}
