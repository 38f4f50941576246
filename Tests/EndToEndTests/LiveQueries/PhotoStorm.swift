import Foundation
import Glibc
import PhotoTestSupport

/// Changes photos in the folders of a library at random, as people and programs do. Files are copied in, edited in
/// place, saved through another file, renamed, renamed over each other, and deleted. Folders and photos move, also from
/// one root to the other, and out of all roots and back.
///
/// The storm keeps a list of all files and directories, so nearly every operation that it tries succeeds.
struct PhotoStorm {
  private struct Sample {
    let data: Data
    /// The extension, without its dot.
    let type: String
  }

  private struct Directory {
    var path: String
    /// Whether the directory must not be removed, because lists of its photos are observed. It may be renamed.
    let isKept: Bool
  }

  private let roots: [String]
  /// A folder beside the roots.
  private let outside: String
  private let samples: [Sample]
  /// The least number of photos. There are up to twice as many.
  private let fewest: Int
  private var random: SeededGenerator
  private var files: [String] = []
  private var directories: [Directory]
  /// The names of the files and folders that are in `outside` now.
  private var parked: [String] = []
  /// A counter that makes names and contents unique.
  private var names = 0
  /// The number of operations that changed something.
  private(set) var count = 0

  /// - Parameters:
  ///   - fewest: the least number of photos. There are up to twice as many.
  ///   - photos: a folder with more photos of any kind, used as samples.
  init(roots: [String], outside: String, fewest: Int, photos: URL?, seed: Int) throws {
    self.roots = roots
    self.outside = outside
    self.fewest = fewest
    random = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
    let made = SourceTree.tests.appendingPathComponent("Fixtures/made")
    samples = try Self.samples(below: made) + (photos.map(Self.samples) ?? [])
    directories = roots.map { Directory(path: $0, isKept: true) }
    for path in roots + [outside] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    for number in 0..<8 {
      let path = directories.randomElement(using: &random)!.path + "/kept\(number)"
      guard mkdir(path, 0o755) == 0 else { continue }
      directories.append(Directory(path: path, isKept: true))
    }
    while files.count < fewest * 3 / 2 { create() }
    count = 0
  }

  /// Reads the small photos below a folder. Large ones are left out, because the storm writes thousands of copies.
  private static func samples(below folder: URL) throws -> [Sample] {
    let types: Set = ["jpg", "jpeg", "png", "webp", "avif", "heic", "gif", "tiff", "dng", "mov", "mp4", "xmp"]
    guard let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.fileSizeKey]) else {
      return []
    }
    var found: [Sample] = []
    let urls = walk.compactMap { $0 as? URL }.filter { types.contains($0.pathExtension.lowercased()) }
    for url in urls.sorted(by: { $0.path < $1.path }) {
      guard let size = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize, size < 24 << 10 else { continue }
      found.append(Sample(data: try Data(contentsOf: url), type: url.pathExtension))
    }
    return found
  }

  // MARK: Names

  private mutating func directory() -> String { directories.randomElement(using: &random)!.path }

  /// Returns one of a few hundred names. As there are so few, files replace others, get names that other files had
  /// before, and become companions of photos with the same name.
  private mutating func name() -> String {
    let word = ["IMG_", "img_", "DSC", "Été ", "E\u{301}te\u{301} ", "日本", "it's; --", "100% ", "beach x-t5 "]
      .randomElement(using: &random)!
    return word + "\(Int.random(in: 0..<40, using: &random))"
  }

  private static func type(of path: String) -> String { (path as NSString).pathExtension }
  private static func stem(of path: String) -> String { (path as NSString).deletingPathExtension }

  // MARK: Operations

  /// Performs one random operation. In rare cases it fails, and nothing changes.
  mutating func step() {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<14: if files.count < 2 * fewest { create() } else { delete() }
    case 14..<26: if files.count > fewest { delete() } else { create() }
    case 26..<36: edit()
    case 36..<42: saveBeside()
    case 42..<46: touch()
    case 46..<60: rename(file(), (pathParent(file()) ?? roots[0]) + "/" + name())
    case 60..<72: rename(file(), directory() + "/" + name())
    case 72..<76: replace()
    case 76..<80: companion()
    case 80..<88: renameDirectory()
    case 88..<92: makeDirectory()
    case 92..<94: removeDirectory()
    case 94..<97: park()
    default: unpark()
    }
  }

  private mutating func file() -> String { files.randomElement(using: &random) ?? roots[0] + "/none.jpg" }

  private func pathParent(_ path: String) -> String? {
    path.lastIndex(of: "/").map { String(path[..<$0]) }
  }

  private mutating func create() {
    let sample = samples.randomElement(using: &random)!
    // If a photo has this name already with another extension, the new file may be its companion.
    let stem = directory() + "/" + name()
    write(sample, to: stem + "." + sample.type)
  }

  private mutating func write(_ sample: Sample, to path: String) {
    var data = sample.data
    if Int.random(in: 0..<3, using: &random) > 0 {
      // This makes the content unique. One file in three stays a copy of the sample.
      names += 1
      data += Data(" \(names)".utf8)
    }
    guard Self.write(data, to: path) else { return }
    if !files.contains(path) { files.append(path) }
    count += 1
  }

  private static func write(_ data: Data, to path: String, flags: Int32 = O_CREAT | O_TRUNC) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | flags, 0o644)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return data.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == data.count
  }

  private mutating func delete() {
    guard let path = files.randomElement(using: &random), unlink(path) == 0 else { return }
    files.removeAll { $0 == path }
    count += 1
  }

  /// Edits a file in place: with other content, or a few bytes more.
  private mutating func edit() {
    guard let path = files.randomElement(using: &random) else { return }
    names += 1
    if Bool.random(using: &random) {
      if Self.write(Data(" edited \(names)".utf8), to: path, flags: O_APPEND) { count += 1 }
    } else if let sample = samples.filter({ $0.type == Self.type(of: path) }).randomElement(using: &random) {
      write(sample, to: path)
    }
  }

  /// Saves a file as editors do, through another file.
  private mutating func saveBeside() {
    guard let path = files.randomElement(using: &random),
      let sample = samples.filter({ $0.type == Self.type(of: path) }).randomElement(using: &random)
    else { return }
    names += 1
    let beside = path + "~\(names)"
    guard Self.write(sample.data + Data(" saved \(names)".utf8), to: beside), Glibc.rename(beside, path) == 0 else {
      return
    }
    count += 1
  }

  /// Gives a file another modification time.
  private mutating func touch() {
    guard let path = files.randomElement(using: &random) else { return }
    let time = timespec(tv_sec: Int.random(in: 1_200_000_000...1_700_000_000, using: &random), tv_nsec: 0)
    if utimensat(AT_FDCWD, path, [time, time], 0) == 0 { count += 1 }
  }

  /// Renames a file to a path with the same extension. A file at that path is replaced.
  ///
  /// - Parameter stem: the new path without the extension.
  private mutating func rename(_ path: String, _ stem: String) {
    let target = stem + "." + Self.type(of: path)
    guard path != target, Glibc.rename(path, target) == 0 else { return }
    files.removeAll { $0 == path || $0 == target }
    files.append(target)
    count += 1
  }

  /// Renames a file over another one of the same type.
  private mutating func replace() {
    let (path, other) = (file(), file())
    guard Self.type(of: path) == Self.type(of: other) else { return }
    rename(path, Self.stem(of: other))
  }

  /// Adds a video, another kind of picture, or a sidecar with the name of an existing photo.
  private mutating func companion() {
    let stem = Self.stem(of: file())
    let types: Set = ["MOV", "mov", "xmp", "DNG", "dng"]
    guard let sample = samples.filter({ types.contains($0.type) }).randomElement(using: &random) else { return }
    write(sample, to: stem + "." + sample.type)
  }

  // MARK: Directories

  private mutating func makeDirectory() {
    guard directories.count < 40 else { return removeDirectory() }
    names += 1
    let path = directory() + "/d\(Int.random(in: 0..<12, using: &random))"
    guard mkdir(path, 0o755) == 0 else { return }
    directories.append(Directory(path: path, isKept: false))
    count += 1
    // The folder gets files at once, so that photod-watch has no time to watch it before.
    for _ in 0..<Int.random(in: 0...3, using: &random) { write(samples.randomElement(using: &random)!, in: path) }
  }

  private mutating func write(_ sample: Sample, in directory: String) {
    write(sample, to: directory + "/" + name() + "." + sample.type)
  }

  private mutating func renameDirectory() {
    guard let old = directories.dropFirst(roots.count).randomElement(using: &random)?.path else { return }
    names += 1
    let parent = Int.random(in: 0..<3, using: &random) == 0 ? directory() : pathParent(old) ?? roots[0]
    let new = parent + "/r\(Int.random(in: 0..<20, using: &random))-\(names % 3)"
    // The rename replaces a new, empty directory. mkdir fails if the name is in use, so nothing else is replaced.
    guard !(parent + "/").hasPrefix(old + "/"), parent.split(separator: "/").count < 12, mkdir(new, 0o755) == 0,
      Glibc.rename(old, new) == 0
    else { return }
    move(old, to: new)
    count += 1
  }

  /// Records the new paths of everything below a directory that was renamed.
  private mutating func move(_ old: String, to new: String) {
    for index in directories.indices where (directories[index].path + "/").hasPrefix(old + "/") {
      directories[index].path = new + directories[index].path.dropFirst(old.count)
    }
    for index in files.indices where files[index].hasPrefix(old + "/") {
      files[index] = new + files[index].dropFirst(old.count)
    }
  }

  /// A random directory that may be removed: neither it nor any directory below it is to be kept.
  private mutating func passingDirectory() -> String? {
    let kept = directories.filter(\.isKept).map(\.path)
    return directories.filter { directory in
      !directory.isKept && !kept.contains { $0.hasPrefix(directory.path + "/") }
    }.randomElement(using: &random)?.path
  }

  private mutating func removeDirectory() {
    guard let path = passingDirectory() else { return }
    for file in files where file.hasPrefix(path + "/") { unlink(file) }
    for directory in directories.map(\.path).sorted(by: >) where (directory + "/").hasPrefix(path + "/") {
      rmdir(directory)
    }
    forget(path)
    count += 1
  }

  /// Removes a directory and everything below it from the lists.
  private mutating func forget(_ path: String) {
    files.removeAll { $0.hasPrefix(path + "/") }
    directories.removeAll { ($0.path + "/").hasPrefix(path + "/") }
  }

  /// Moves a folder or a photo out of the roots. ``unpark()`` moves it back later.
  private mutating func park() {
    guard parked.count < 20 else { return unpark() }
    names += 1
    if Int.random(in: 0..<3, using: &random) == 0, let path = passingDirectory() {
      guard Glibc.rename(path, outside + "/d\(names)") == 0 else { return }
      forget(path)
      parked.append("d\(names)")
    } else {
      let path = file()
      let name = "f\(names)." + Self.type(of: path)
      guard Glibc.rename(path, outside + "/" + name) == 0 else { return }
      files.removeAll { $0 == path }
      parked.append(name)
    }
    count += 1
  }

  /// Moves a folder or a photo from `outside` back into a root.
  private mutating func unpark() {
    guard let index = parked.indices.randomElement(using: &random) else { return }
    let target = directory() + "/back-" + parked[index]
    guard Glibc.rename(outside + "/" + parked[index], target) == 0 else { return }
    if parked.remove(at: index).hasPrefix("f") {
      files.append(target)
    } else {
      directories.append(Directory(path: target, isKept: false))
      learn(target)
    }
    count += 1
  }

  /// Adds the contents of a folder that came back to the lists.
  private mutating func learn(_ folder: String) {
    guard let walk = FileManager.default.enumerator(atPath: folder) else { return }
    while let name = walk.nextObject() as? String {
      let path = folder + "/" + name
      if walk.fileAttributes?[.type] as? FileAttributeType == .typeDirectory {
        directories.append(Directory(path: path, isKept: false))
      } else {
        files.append(path)
      }
    }
  }
}
