import Dispatch
import PhotoCatalog
import PhotoWatch
import Synchronization
import WatchRecords

/// Reads the files of a batch on all cores while the batch before it is being committed.
///
/// It is a hint and decides nothing: a file that it did not read, or that is another by now, is read when the batch is
/// applied. So it may go by its own idea of where directories are, taken from the records alone.
actor ReadAhead {
  /// What came from photod-watch, with the content of the files that are new or changed, by the index of their record.
  struct Input: Sendable {
    let input: WatchInput
    let contents: [Int: ContentReading]
  }

  private let executor = QueueExecutor(label: "photod.read-ahead")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let catalog: Catalog
  private let files: any PhotoFiles
  private let knownInodes: KnownInodes
  private var places: [DirectoryNumber: (parent: DirectoryNumber, name: [UInt8])] = [:]

  init(catalog: Catalog, files: any PhotoFiles, knownInodes: KnownInodes) {
    self.catalog = catalog
    self.files = files
    self.knownInodes = knownInodes
  }

  func read(_ input: WatchInput) throws -> Input {
    switch input {
    case .started, .died:
      places = [:]
      return Input(input: input, contents: [:])
    case .batch(let records):
      return Input(input: input, contents: try contents(of: records))
    }
  }

  private struct Candidate: Sendable {
    let index: Int
    let path: [UInt8]
    let stat: FileStat
  }

  private func contents(of records: [WatchRecord]) throws -> [Int: ContentReading] {
    var candidates: [Candidate] = []
    var lastDirectory: (number: DirectoryNumber, path: [UInt8])?
    func add(_ index: Int, _ directory: DirectoryNumber, _ name: [UInt8], _ stat: FileStat) {
      guard stat.byteCount > 0 else { return }
      if lastDirectory?.number != directory {
        guard let path = path(of: directory) else { return }
        lastDirectory = (directory, path)
      }
      candidates.append(Candidate(index: index, path: lastDirectory!.path + name, stat: stat))
    }
    for (index, record) in records.enumerated() {
      switch record {
      case .directoryFound(let number, let parent, _, let name, _), .directoryMoved(let number, let parent, let name):
        places[number] = (parent, name)
        lastDirectory = nil
      case .directoryGone(let number, _):
        places[number] = nil
      case .fileFound(let directory, let name, let stat):
        add(index, directory, name, stat)
      case .fileMoved(_, _, let to, let toName, let stat?):
        add(index, to, toName, stat)
      default: break
      }
    }
    guard !candidates.isEmpty else { return [:] }
    if candidates.contains(where: { knownInodes.mayContain($0.stat.identity.inode) }) {
      candidates = try catalog.read { reader in
        try candidates.filter { candidate in
          guard knownInodes.mayContain(candidate.stat.identity.inode) else { return true }
          return try !reader.isKnown(
            inode: candidate.stat.identity.inode, byteCount: candidate.stat.byteCount,
            modificationTime: candidate.stat.modificationTime)
        }
      }
    }
    return readAll(candidates)
  }

  /// The path of a directory with a slash at its end.
  private func path(of number: DirectoryNumber) -> [UInt8]? {
    var names: [[UInt8]] = []
    var current = number
    while current != 0 {
      guard let place = places[current], names.count < 100_000 else { return nil }
      names.append(place.name)
      current = place.parent
    }
    var path: [UInt8] = []
    for name in names.reversed() {
      path += name
      if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
    }
    return path
  }

  private static let sliceSize = 16

  private func readAll(_ candidates: [Candidate]) -> [Int: ContentReading] {
    var contents: [Int: ContentReading] = [:]
    contents.reserveCapacity(candidates.count)
    if candidates.count < Self.sliceSize {
      for candidate in candidates { contents[candidate.index] = files.read(candidate.path, expecting: candidate.stat) }
      return contents
    }
    let slices = (candidates.count + Self.sliceSize - 1) / Self.sliceSize
    let results = Mutex<[(Int, ContentReading)]>([])
    let files = files
    let all = candidates
    DispatchQueue.concurrentPerform(iterations: slices) { slice in
      let range = slice * Self.sliceSize..<min((slice + 1) * Self.sliceSize, all.count)
      let readings = all[range].map { ($0.index, files.read($0.path, expecting: $0.stat)) }
      results.withLock { $0 += readings }
    }
    for (index, reading) in results.withLock({ $0 }) { contents[index] = reading }
    return contents
  }
}
