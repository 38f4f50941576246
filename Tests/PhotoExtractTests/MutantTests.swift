import ExtractRecords
import Foundation
import Glibc
import Logging
import PhotoExtract
import PhotoTestSupport
import Synchronization
import TestTools
import Testing

/// Damaged files through the whole way: photod's pool, its protocol, and processes of photod-extract in their sandbox.
///
/// `PHOTOD_MUTANTS` says how many there are, and `PHOTOD_SEED` makes others. They are made from the real photos, like
/// those of the other tests, else from the files of the package. A file that ends a process or overruns the deadline is kept in
/// the folder that the failure names. With `PHOTOD_PRODUCTS`, another photod-extract reads them.
@Suite struct MutantTests {
  private static let count = effort("PHOTOD_MUTANTS", 3_000)
  private static let seed = UInt64(effort("PHOTOD_SEED", 15))
  /// As many as `photod` takes on two cores.
  private static let threadCount = 2

  /// The names and the beginnings of the files that are damaged.
  private static let samples: [(name: [UInt8], content: [UInt8])] = {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let package = tests.deletingLastPathComponent()
    let named = ProcessInfo.processInfo.environment["PHOTOD_TEST_PHOTOS"].map { URL(fileURLWithPath: $0) }
    let real = named ?? package.deletingLastPathComponent().appending(path: "shared/photos")
    let folder = FileManager.default.fileExists(atPath: real.path) ? real : tests.appending(path: "Fixtures/made")
    guard let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else { return [] }
    var samples: [(path: String, sample: (name: [UInt8], content: [UInt8]))] = []
    for case let url as URL in files {
      guard let file = try? FileHandle(forReadingFrom: url) else { continue }
      defer { try? file.close() }
      guard let content = try? file.read(upToCount: 200_000), content.count > 16 else { continue }
      samples.append((url.path, (Array(url.lastPathComponent.utf8), Array(content))))
    }
    // The order of a folder differs from machine to machine.
    return samples.sorted { $0.path < $1.path }.map(\.sample)
  }()

  private struct Count: Sendable {
    var read = 0
    var failing = 0
    var late = 0
    var slowest = Duration.zero
  }

  @Test(.timeLimit(.minutes(600))) func noDamagedFileEndsItsReaderOrOverrunsTheDeadline() throws {
    try #require(!Self.samples.isEmpty)
    let extractor = TestExtractor.make(readerCount: Self.threadCount)
    defer { extractor.end() }
    let kept = FileManager.default.temporaryDirectory.appending(path: "photod-mutants-\(Self.seed)")
    let total = Mutex(Count())
    let problems = Mutex<[String]>([])
    let batches = (Self.count + Extractor.mostFiles - 1) / Extractor.mostFiles
    let next = Atomic(0)
    let start = ContinuousClock.now
    DispatchQueue.concurrentPerform(iterations: Self.threadCount) { _ in
      do {
        let files = try (0..<Extractor.mostFiles).map { _ in try UnnamedFile() }
        while true {
          let batch = next.add(1, ordering: .relaxed).oldValue
          guard batch < batches, problems.withLock({ $0.count < 20 }) else { return }
          // Each batch has a seed of its own, so that one batch can be repeated.
          var mutants = Mutants(seed: Self.seed &* 1_000_003 &+ UInt64(batch), samples: Self.samples)
          let made = try files.map { file in
            let mutant = mutants.next()
            try file.write(mutant.content)
            return mutant
          }
          let before = ContinuousClock.now
          let results = extractor.read(
            zip(files, made).map { file, mutant in
              MediaSource(
                bytes: .descriptor(file.descriptor), fileSystem: .drive(1), byteCount: Int64(mutant.content.count),
                name: mutant.name)
            })
          var count = Count()
          for (result, mutant) in zip(results, made) {
            var result = result
            if case .unfinished(let unfinished) = result {
              count.late += 1
              result = unfinished.finish()
            }
            switch result {
            case .facts(let facts):
              count.read += 1
              if facts.failure != nil { count.failing += 1 }
            case .busy: continue
            case .blamed(let reason), .unavailable(let reason):
              try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
              let place = kept.appending(path: "\(batch)-\(String(decoding: mutant.name, as: UTF8.self))")
              try Data(mutant.content).write(to: place)
              problems.withLock { $0.append("\(place.path): \(reason)") }
            case .unfinished: problems.withLock { $0.append("a file that was waited for is unfinished") }
            }
          }
          count.slowest = ContinuousClock.now - before
          total.withLock { total in
            total.read += count.read
            total.failing += count.failing
            total.late += count.late
            total.slowest = max(total.slowest, count.slowest)
          }
        }
      } catch {
        problems.withLock { $0.append("\(error)") }
      }
    }
    let (count, time) = (total.withLock { $0 }, ContinuousClock.now - start)
    print(
      "\(count.read) damaged files in \(time): \(count.failing) with a failure, \(count.late) late, "
        + "\(extractor.restartCount) ends of a reader, \(extractor.blamedCount) blamed files, "
        + "slowest \(Extractor.mostFiles) files \(count.slowest)")
    #expect(problems.withLock { $0 } == [])
    #expect(extractor.blamedCount == 0 && extractor.restartCount == 0)
    #expect(count.read > batches * Extractor.mostFiles * 9 / 10, "too many files found all readers busy")
  }
}

/// A file without a name, which is written anew for each mutant.
private final class UnnamedFile: Sendable {
  let descriptor: Int32

  init() throws {
    let folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
    var template = Array("\(folder)/photod-mutant-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0, unlink(template) == 0 else { throw SystemCallError("mkstemp in \(folder)") }
  }

  deinit { close(descriptor) }

  func write(_ content: [UInt8]) throws {
    guard ftruncate(descriptor, off_t(content.count)) == 0,
      pwrite(descriptor, content, content.count, 0) == content.count
    else { throw SystemCallError("pwrite") }
  }
}

/// Makes damaged files from samples.
private struct Mutants {
  private var random: SeededGenerator
  private let samples: [(name: [UInt8], content: [UInt8])]

  init(seed: UInt64, samples: [(name: [UInt8], content: [UInt8])]) {
    random = SeededGenerator(seed: seed)
    self.samples = samples
  }

  mutating func next() -> (name: [UInt8], content: [UInt8]) {
    var (name, content) = samples[number(samples.count)]
    for _ in 0...number(12) { damage(&content) }
    // A name that promises another format.
    if random.once(in: 50) { name = samples[number(samples.count)].name }
    return (name, content)
  }

  private mutating func number(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &random) }

  /// A position that is likely in the metadata: near the beginning, or near the end.
  private mutating func position(_ content: [UInt8]) -> Int {
    switch number(8) {
    case 0: number(content.count)
    case 1: max(0, content.count - 1 - number(4096))
    case 2, 3: number(min(content.count, 256))
    default: number(min(content.count, 8192))
    }
  }

  private mutating func damage(_ content: inout [UInt8]) {
    guard content.count > 8 else { return }
    let place = position(content)
    switch number(11) {
    case 0: content[place] = UInt8.random(in: 0...255, using: &random)
    case 1: content[place] ^= 1 << number(8)
    case 2: content[place] &+= random.once(in: 2) ? 1 : 255
    case 3, 4:  // a length, a count or an offset
      let values: [UInt64] = [
        0, 1, 2, 7, 8, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF_FFFE, UInt64(place),
        UInt64(content.count), UInt64(content.count - place), .max, 1 << 32, 1 << 63,
      ]
      let (value, width) = (values[number(values.count)], [2, 4, 8][number(3)])
      let isLittle = random.once(in: 2)
      for index in 0..<width where place + index < content.count {
        content[place + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (isLittle ? index : width - 1 - index)))
      }
    case 5: content.removeSubrange(place..<min(content.count, place + 1 + number(16)))
    case 6: content.insert(contentsOf: (0...number(16)).map { _ in UInt8(truncatingIfNeeded: number(256)) }, at: place)
    case 7:  // a piece again, at another place
      let piece = Array(content[place..<min(content.count, place + 1 + number(512))])
      content.insert(contentsOf: piece, at: position(content))
    case 8:  // a piece of another file
      let other = samples[number(samples.count)].content
      let start = number(min(other.count, 8192))
      let piece = other[start..<min(other.count, start + 1 + number(512))]
      content.replaceSubrange(place..<min(content.count, place + piece.count), with: piece)
    case 9:
      for index in place..<min(content.count, place + 1 + number(64)) { content[index] = random.once(in: 2) ? 0 : 0xFF }
    default: if random.once(in: 4) { content.removeSubrange(place...) }
    }
  }
}
