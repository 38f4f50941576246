import Foundation
import Glibc
import PhotoTestSupport
import Testing

/// Changes to a folder by people, sync tools and accidents, as fast as possible. Deep directories are made and filled
/// at once. Files are written, removed and renamed over each other. Directories are renamed, moved out of the folder
/// and back, removed and made again.
struct Storm: Sendable {
  let folder: String
  let outside: String
  let seed: Int

  init(folder: String, outside: String, seed: Int) {
    self.folder = folder
    self.outside = outside
    self.seed = seed
    mkdir(outside, 0o755)
  }

  private static let directories = (0..<8).map { "d\($0)" }
  private static let files = (0..<10).map { "f\($0).jpg" }

  /// Runs operations on `threads` threads until the time is over.
  ///
  /// - Returns: the number of operations.
  func run(for time: Duration, threads: Int = 2) async -> Int {
    let end = ContinuousClock.now + time
    return await withTaskGroup(of: Int.self) { group in
      for thread in 0..<threads {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread.detachNewThread {
              var random = SeededGenerator(seed: UInt64(bitPattern: Int64(seed &* 1000 + thread)))
              var count = 0
              while ContinuousClock.now < end {
                step(&random)
                count += 1
              }
              continuation.resume(returning: count)
            }
          }
        }
      }
      return await group.reduce(0, +)
    }
  }

  /// Causes more events than the kernel queues (16,384), within a second. photod-watch may be stopped that long without
  /// being considered hung.
  func burst() {
    // The files are in a folder that is already watched. Without a watch, the kernel would queue nothing.
    for index in 0..<20_000 { write(folder + "/burst-\(index % 50).jpg", index % 7) }
  }

  /// Makes one operation. Most operations that cannot be done are skipped.
  func step(_ random: inout SeededGenerator) {
    func directory(_ random: inout SeededGenerator) -> String {
      var path = folder
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        path += "/" + Self.directories.randomElement(using: &random)!
      }
      return path
    }
    func name(_ random: inout SeededGenerator) -> String { Self.directories.randomElement(using: &random)! }
    func file(_ random: inout SeededGenerator) -> String { Self.files.randomElement(using: &random)! }
    switch Double.random(in: 0..<1, using: &random) {
    case ..<0.15:
      makeDirectories(directory(&random) + "/\(name(&random))/\(name(&random))/\(name(&random))")
    case ..<0.25:
      let path = directory(&random) + "/" + name(&random)
      makeDirectories(path)
      for _ in 0..<3 { write(path + "/" + file(&random), Int.random(in: 0...9, using: &random)) }
    case ..<0.50: write(directory(&random) + "/" + file(&random), Int.random(in: 0...9, using: &random))
    case ..<0.60: unlink(directory(&random) + "/" + file(&random))
    case ..<0.70: rename(directory(&random) + "/" + file(&random), directory(&random) + "/" + file(&random))
    case ..<0.85: rename(directory(&random) + "/" + name(&random), directory(&random) + "/" + name(&random))
    case ..<0.90:
      rename(directory(&random) + "/" + name(&random), outside + "/x\(Int.random(in: 0...30, using: &random))")
    case ..<0.95:
      rename(outside + "/x\(Int.random(in: 0...30, using: &random))", directory(&random) + "/" + name(&random))
    case ..<0.96: removeTree(directory(&random) + "/" + name(&random))
    case ..<0.965:
      let path = directory(&random) + "/" + name(&random)
      removeTree(path)
      makeDirectories(path)
      write(path + "/re.jpg", 1)
    default: break
    }
  }

  private func makeDirectories(_ path: String) {
    guard path.hasPrefix(folder + "/") else { return }
    var made = folder
    for part in path.dropFirst(folder.count + 1).split(separator: "/") {
      made += "/" + part
      mkdir(made, 0o755)
    }
  }

  /// Writes a photo, unless its folder does not exist.
  private func write(_ path: String, _ variant: Int) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      let code = errno
      if code != ENOENT { Issue.record("\(path) can't be opened: \(String(cString: strerror(code)))") }
      return
    }
    defer { close(descriptor) }
    let photo = DaemonFixture.photo(variant)
    let written = photo.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if written != photo.count { Issue.record("\(path) has \(written) of \(photo.count) bytes") }
  }

  private func removeTree(_ path: String) {
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name == "." || name == ".." { continue }
      if entry.pointee.d_type == UInt8(DT_DIR) { removeTree(path + "/" + name) } else { unlink(path + "/" + name) }
    }
    closedir(directory)
    rmdir(path)
  }
}
