import ArgumentParser
import PhotoClient
import PhotoModel

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Gives your photos the edits and albums of an export.",
    discussion: """
      It reads the output of `photoctl export`. The export may be of this library, or of another one with the same \
      photos. So you can move your edits to another machine, or keep them over a reinstallation.

      A photo is found by the hash of its content if exactly one photo has this hash. Otherwise, it is found by its \
      path, or by its path below a watched folder. If the export has no hash, the photo at the path must have the same \
      size. In the library of the export, the path suffices. If photod has no hash of a file yet, it reads the file, \
      which takes time for many photos.

      It adds and replaces, and removes nothing: a typed value of the export replaces the one that you typed here, and \
      other values stay. An album with the same title in the same folder gets the photos that it lacks, in the order \
      of the export. If you repeat it, nothing changes. `photoctl undo` undoes the whole import, if it has at most \
      20,000 places of photos in albums, or 5,000 to 10,000 edits. A larger import can't be undone.

      Photos that are not found are listed with the reason. All others are imported, and it exits with 66. If photod \
      did not accept an album, it exits with 65. If an error ends the import, it prints what it has imported before.

      EXAMPLES
        photoctl import --dry-run photos.jsonl
        photoctl import photos.jsonl
        photoctl import --json photos.jsonl | jq -r '.notFound[].path'
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Print what would change, and change nothing.")
  var isDryRun = false

  @Argument(
    help: ArgumentHelp("The output of `photoctl export`; - reads it from standard input.", valueName: "file"),
    completion: .file())
  var file: String

  @OptionGroup var json: JSONOption

  func run() async throws {
    let name = file == "-" ? "standard input" : Printable.text(file)
    let bytes = try Input.readAll(path: file, remedy: "It must be the output of `photoctl export`.")
    let export = try ExportFile(bytes, name: name)
    let library = connection.library
    let status = try await library.status()
    try Self.check(status.state)
    var report = ImportReport()
    report.isDryRun = isDryRun
    var failure: Failure?
    do {
      let assets = try await importPhotos(export, library, status, &report)
      var collections = try await CollectionImport(in: library, assets: assets, isDryRun: isDryRun)
      defer { report.take(collections, export, assets) }
      try await collections.run(export.collections.map(\.value))
    } catch let error as PhotoLibraryError where report.hasEntries && !isDryRun {
      failure = Failure(error, "The import has changed", "what is reported above")
    }
    if json.isOn {
      try Output.put(JSONText.indented(report))
    } else if isDryRun {
      try Output.put(report.lines)
    }
    Output.complain(report.problems + report.summary + "\n")
    if let failure { throw failure }
    try throwFailure(for: report)
  }

  /// Throws unless the library has all photos. Photos that photod has not found yet would count as missing.
  static func check(_ state: LibraryStatus.State) throws {
    switch state {
    case .live: break
    case .opening, .scanning, .recovering:
      throw Failure(
        .tryAgain, "photod is still scanning your folders",
        remedy: "`photoctl status --wait` waits for the end of the scan. Import then.", command: "import")
    case .degraded, .unknown:
      throw Failure(
        .tryAgain, "photod can't do its work now, so the library may lack photos",
        remedy: "`photoctl status` shows the reason. Import when the library is live.", command: "import")
    }
  }

  /// - Returns: the photos of the library, by their ids in the export.
  private func importPhotos(
    _ export: ExportFile, _ library: PhotoLibrary, _ status: LibraryStatus, _ report: inout ImportReport
  ) async throws -> [AssetID: AssetID] {
    let photos = export.photos.map(\.value)
    let lines = export.photos.map(\.line)
    let matcher = try await library.match(photos, of: export.library, status)
    let found = matcher.matches.compactMap { $0 }
    let assets = Dictionary(try await library.assets(found).map { ($0.id, $0) }) { first, _ in first }
    let data = Dictionary(try await library.userData(of: found).map { ($0.assetID, $0) }) { first, _ in first }
    var ids: [AssetID: AssetID] = [:]
    var batch = ChangeBatch(library)
    var edited: [ImportReport.Photo] = []
    // An error leaves the edits undone that were not sent.
    defer {
      report.edited = edited.filter { !batch.vanished.contains($0.id) }
      if !isDryRun { report.edited = Array(report.edited.prefix(batch.doneCount)) }
      report.note(batch.vanished, export, ids)
    }
    for (index, photo) in photos.enumerated() {
      guard let id = matcher.matches[index], let asset = assets[id] else {
        let reason = matcher.problem(of: index, lines: lines)
        report.notFound.append(.init(line: lines[index], path: photo.path, reason: reason))
        continue
      }
      ids[photo.id] = id
      guard let edit = PhotoEdit(photo, of: asset, having: data[id] ?? UserData(assetID: id)) else {
        report.unchangedPhotoCount += 1
        continue
      }
      edited.append(.init(id: id, path: asset.listedPath ?? photo.path, changes: edit.changes))
      if !isDryRun {
        try await batch.add(ChangeRequest(editAsset: edit.request), idCount: 1, byteCount: edit.byteCount)
      }
    }
    try await batch.send()
    return ids.filter { !batch.vanished.contains($0.value) }
  }

  private func throwFailure(for report: ImportReport) throws {
    if !report.notFound.isEmpty {
      throw Failure(
        .noInput,
        "\(Text.count(report.notFound.count, "photo", "photos")) of the export \(report.notFound.count == 1 ? "was" : "were") not found",
        remedy: "Copy the photos into a watched folder, and import again. `photoctl status` lists the folders.",
        command: "import")
    }
    if !report.rejected.isEmpty {
      throw Failure(
        .data, "photod did not accept \(Text.count(report.rejected.count, "album", "albums")) of the export",
        remedy: "The reasons are above. All else was imported.", command: "import")
    }
  }
}

extension ImportReport {
  /// Whether it has something for a person to read. An album that was made, but not filled, is among the rejected ones.
  fileprivate var hasEntries: Bool {
    !edited.isEmpty || !created.isEmpty || !changed.isEmpty || !reordered.isEmpty || !rejected.isEmpty
  }

  /// Takes what became of the collections.
  ///
  /// - Parameter ids: the photos of the library, by their ids in the export.
  fileprivate mutating func take(_ collections: CollectionImport, _ export: ExportFile, _ ids: [AssetID: AssetID]) {
    let other = collections.report
    created = other.created
    changed = other.changed
    unchangedCollectionCount = other.unchangedCollectionCount
    reordered = other.reordered
    rejected = other.rejected
    note(collections.vanished, export, ids)
  }

  /// Notes photos that have left the library since they were found.
  fileprivate mutating func note(_ vanished: Set<AssetID>, _ export: ExportFile, _ ids: [AssetID: AssetID]) {
    for photo in export.photos {
      guard let id = ids[photo.value.id], vanished.contains(id) else { continue }
      let reason = "the photo here has left the library during the import"
      notFound.append(.init(line: photo.line, path: photo.value.path, reason: reason))
    }
  }
}
