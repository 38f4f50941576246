import Dispatch
import PhotoCatalog
import PhotoExtract
import PhotoModel
import PhotoWatch
import Synchronization
import WatchRecords

/// Reads the files of a batch while the batch before it is being committed: those of drives on all cores, those of a share
/// one after another.
///
/// It is a hint and decides nothing: a file that it did not read, or that is another by now, is read when the batch is
/// applied. It knows the recent places of directories, and asks the library for others.
actor ReadAhead {
  /// An input from photod-watch, with the content of the files that are new or changed, by the index of their record.
  struct Input: Sendable {
    let input: WatchInput
    let contents: [Int: ContentReading]
  }

  nonisolated let executor = ThreadExecutor(name: "photod-reader")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let catalog: Catalog
  private let files: any PhotoFiles
  private let knownInodes: KnownInodes
  private(set) var places = RecentPlaces()
  /// The directory that a scan is listing. The files that the scan finds were not written just now.
  private var scanned: DirectoryNumber?
  /// Whether there is a volume whose inodes change with each mount, such as a FAT, or nil if that is not known. A
  /// volume comes with its folders, so this is read again after each of them.
  private var hasChangingInodes: Bool?

  /// Returns the places of some directories and of all above them, as far as they are known. The library answers between
  /// two batches.
  typealias KnownPlaces = @Sendable ([DirectoryNumber]) async -> [DirectoryPlace]

  init(catalog: Catalog, files: any PhotoFiles, knownInodes: KnownInodes) {
    self.catalog = catalog
    self.files = files
    self.knownInodes = knownInodes
  }

  /// Reads ahead for each input of a lane, until there are no more or the task is cancelled.
  ///
  /// - Parameter isAnswered: returns true for an input that needs neither this nor the library any more.
  func run(
    _ lane: WatchLane, into inputs: Handover<Input>, unless isAnswered: (WatchInput) -> Bool,
    asking known: KnownPlaces
  ) async {
    while let input = await lane.nextInput() {
      if !isAnswered(input) { await inputs.put(read(input, asking: known)) }
    }
    inputs.finish()
  }

  /// The next input comes when this one has been read.
  func read(_ input: WatchInput, asking known: KnownPlaces = { _ in [] }) async -> Input {
    switch input {
    case .started, .died:
      places = RecentPlaces()
      (scanned, hasChangingInodes) = (nil, nil)
      return Input(input: input, contents: [:])
    case .batch(let records):
      let missing = missingPlaces(in: records)
      if !missing.isEmpty {
        for place in await known(missing) { places.add(place) }
      }
      do {
        return Input(input: input, contents: try contents(of: records))
      } catch {
        // The batch is passed on without contents. The library meets the same error when it applies the batch, and
        // reports it.
        return Input(input: input, contents: [:])
      }
    }
  }

  /// The directories whose places must be known before the files of a batch can be read.
  private func missingPlaces(in records: [WatchRecord]) -> [DirectoryNumber] {
    var reported: Set<DirectoryNumber> = []
    var missing: Set<DirectoryNumber> = []
    var last: DirectoryNumber?
    func need(_ number: DirectoryNumber) {
      guard number != 0, number != last, !reported.contains(number) else { return }
      last = number
      if let number = places.missing(above: number), !reported.contains(number) { missing.insert(number) }
    }
    for record in records {
      switch ReadAheadRecord(record) {
      case .directory(let place, _):
        need(place.parent)
        reported.insert(place.number)
      case .file(let directory, _, _, _): need(directory)
      case .directoryGone, .listingStarted, .listingEnded, .rootOffline, .other: break
      }
    }
    return Array(missing)
  }

  /// Files of one directory that may have to be read.
  private struct Folder: Sendable {
    /// The path of the folder, with a slash at its end.
    let path: [UInt8]
    var files: [NamedStat] = []
    /// Parallel to `files`: the index of the record.
    var indexes: [Int] = []

    /// Sorts the files of a scan in the order in which ext4 and others have inodes, and usually content, on the disk. The
    /// order of the records is that of the names. Files that an event reports are few, and in the cache.
    mutating func sortByInode() {
      guard files.count > 1, files.contains(where: { !$0.isSampled }) else { return }
      let order = files.indices.sorted { files[$0].stat.identity.inode < files[$1].stat.identity.inode }
      (files, indexes) = (order.map { files[$0] }, order.map { indexes[$0] })
    }
  }

  private func contents(of records: [WatchRecord]) throws -> [Int: ContentReading] {
    var folders: [Folder] = []
    var lastDirectory: DirectoryNumber?
    func add(_ index: Int, _ directory: DirectoryNumber, _ name: [UInt8], _ stat: FileStat) {
      if lastDirectory != directory {
        guard let path = places.path(of: directory) else { return }
        folders.append(Folder(path: path))
        lastDirectory = directory
      }
      folders[folders.count - 1].files.append(
        NamedStat(name: name, stat: stat, isSampled: directory != scanned))
      folders[folders.count - 1].indexes.append(index)
    }
    for (index, record) in records.lazy.map({ ReadAheadRecord($0) }).enumerated() {
      if places.note(record) { lastDirectory = nil }
      switch record {
      case .directory(_, isNew: true): hasChangingInodes = nil
      case .listingStarted(let number, let evidence): scanned = evidence == .scan ? number : nil
      case .listingEnded: scanned = nil
      case .file(let directory, let name, let stat, _): add(index, directory, name, stat)
      case .directory(_, isNew: false), .directoryGone, .rootOffline, .other: break
      }
    }
    try dropKnown(&folders, of: records)
    for index in folders.indices { folders[index].sortByInode() }
    return readAll(folders)
  }

  /// Files that the catalog has as they are need not be read.
  private func dropKnown(_ folders: inout [Folder], of records: [WatchRecord]) throws {
    guard !folders.isEmpty, hasChangingInodes != false || folders.contains(where: mayBeKnown) else { return }
    folders = try catalog.read { reader in
      let hasChangingInodes =
        try self.hasChangingInodes ?? reader.volumes().values.contains { !VolumeIdentity.hasLastingInodes($0) }
      self.hasChangingInodes = hasChangingInodes
      return try folders.map { folder in
        let isAskedByPlace = hasChangingInodes || folder.files.contains { $0.stat.identity.born == .unknown }
        let place = isAskedByPlace ? try self.place(of: folder, reader) : nil
        var unknown = Folder(path: folder.path)
        for (file, index) in zip(folder.files, folder.indexes) {
          if try isKnown(file, isWritten: Self.isWritten(records[index]), in: place, reader) { continue }
          unknown.files.append(file)
          unknown.indexes.append(index)
        }
        return unknown
      }
    }
  }

  /// A photo that was just made has an inode that no known file had. A look into the catalog would take longer than all else
  /// that is done here for it.
  private func mayBeKnown(_ folder: Folder) -> Bool {
    folder.files.contains { file in
      file.stat.identity.born == .unknown || knownInodes.mayContain(file.stat.identity.inode)
    }
  }

  /// The catalog's directory of a folder, if that must be asked before inodes, as FAT's, which change with every mount.
  private func place(of folder: Folder, _ reader: CatalogReader) throws -> (id: DirectoryID, inodesLast: Bool)? {
    let path = folder.path.count > 1 ? folder.path.dropLast() : folder.path[...]
    guard let id = try reader.directoryID(path: Array(path)) else { return nil }
    let inodesLast = try VolumeIdentity.hasLastingInodes(reader.volumeIdentity(ofDirectory: id) ?? "")
    let isAsked = !inodesLast || folder.files.contains { $0.stat.identity.born == .unknown }
    return isAsked ? (id: id, inodesLast: inodesLast) : nil
  }

  private static func isWritten(_ record: WatchRecord) -> Bool {
    if case .file(_, _, _, let event) = ReadAheadRecord(record) { event.isWritten } else { false }
  }

  private func isKnown(
    _ file: NamedStat, isWritten: Bool, in place: (id: DirectoryID, inodesLast: Bool)?, _ reader: CatalogReader
  ) throws -> Bool {
    let stat = file.stat
    if let place, let row = try reader.file(place.id, file.name) {
      return row.isUnchanged(as: stat, inodesLast: place.inodesLast) && !row.isInDoubt
        && (place.inodesLast || !isWritten)
    }
    return try knownInodes.mayContain(stat.identity.inode)
      && reader.recordedStats(inode: stat.identity.inode).contains { $0.wasRead(as: stat) }
  }

  /// The files of a slice are read in parts, the next of which are opened while one is read. Larger slices would leave too
  /// little to the other threads.
  private static let sliceSize = 4 * Extractor.mostFiles

  private func readAll(_ folders: [Folder]) -> [Int: ContentReading] {
    var slices: [(folder: Int, files: Range<Int>)] = []
    for (index, folder) in folders.enumerated() {
      for start in stride(from: 0, to: folder.files.count, by: Self.sliceSize) {
        slices.append((index, start..<min(start + Self.sliceSize, folder.files.count)))
      }
    }
    let fileCount = slices.reduce(0) { $0 + $1.files.count }
    let results = Mutex([Int: ContentReading](minimumCapacity: fileCount))
    let files = files
    let all = slices
    @Sendable func read(_ number: Int) {
      let (index, range) = all[number]
      let readings = files.read(folders[index].files[range], in: folders[index].path)
      results.withLock { results in
        for (record, reading) in zip(folders[index].indexes[range], readings) { results[record] = reading }
      }
    }
    // A slow share must not take the threads on which other lanes read. All folders of a batch are of one lane.
    if slices.count == 1 || folders.first.map({ files.mayWait($0.path) }) ?? true {
      for number in slices.indices { read(number) }
    } else {
      DispatchQueue.concurrentPerform(iterations: slices.count) { read($0) }
    }
    return results.withLock { $0 }
  }
}
