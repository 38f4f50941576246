import ExtractRecords
import Glibc
import Logging
import PhotoExtract
import PhotoTestSupport
import TestTools
import Testing

/// The handling of files that end a reader, or take long.
@Suite(.enabled(if: ScriptedExtractor.hasPython, "/usr/bin/python3 is not installed")) struct ExtractorTests {
  private let folder: TemporaryFolder
  private let extractor: Extractor

  init() throws {
    folder = try TemporaryFolder("extract")
    extractor = Extractor(
      executable: try ScriptedExtractor.install(in: folder.path), readerCount: 2, deadline: .seconds(2),
      logger: Logger(label: "test"))
  }

  /// Reads files with these names, and waits for those that take long.
  private func read(_ names: [String]) -> [String] {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    return extractor.read(names.map { Self.source($0, descriptor) }).map(Self.text)
  }

  /// The same for two parts, the second of which is requested while the first is read.
  private func read(_ first: [String], then second: [String]) -> [String] {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var queue = extractor.queue()
    queue.add(first.map { Self.source($0, descriptor) })
    queue.add(second.map { Self.source($0, descriptor) })
    let results = (first + second).map { _ in queue.next() }
    queue.end()
    return results.map(Self.text)
  }

  private static func source(_ name: String, _ descriptor: Int32) -> MediaSource {
    MediaSource(bytes: .descriptor(descriptor), fileSystem: .drive(1), byteCount: 1, name: Array(name.utf8))
  }

  private static func text(_ result: Extraction) -> String {
    switch result {
    case .unfinished(let unfinished): "late, " + text(unfinished.finish())
    case .facts(let facts): facts.title ?? "no title"
    case .blamed(let reason): reason.contains("longer than 2 s") ? "blamed for its time" : "blamed"
    case .unavailable(let reason): "unavailable: \(reason)"
    case .busy: "busy"
    }
  }

  /// Until the interpreter of the script runs, every file looks slow.
  private func warmUp() { while read(["a", "b", "c"]) != ["read", "read", "read"] {} }

  @Test func onlyTheFileThatCrashesItsReaderFails() {
    warmUp()
    #expect(
      read(["a", "crash", "b", "c"]).map { $0.replacing("late, ", with: "") } == ["read", "blamed", "read", "read"])
    #expect(extractor.blamedCount == 1)
    #expect(extractor.restartCount >= 2, "the file is tried twice")
  }

  @Test func filesThatWereRequestedFromAReaderThatEndedAreReadByAnother() {
    warmUp()
    let results = read(["a", "crash", "b"], then: ["c", "d"])
    #expect(results.map { $0.replacing("late, ", with: "") } == ["read", "blamed", "read", "read", "read"])
    #expect(extractor.blamedCount == 1)
  }

  @Test func filesThatWereRequestedFromAReaderThatIsSlowAreReadByAnother() {
    warmUp()
    let results = read(["slow"], then: (0..<Extractor.mostFiles).map { "\($0)" })
    #expect(results[0] == "late, read" && results.dropFirst().allSatisfy { $0.hasSuffix("read") })
    #expect(extractor.blamedCount == 0)
  }

  @Test func queueIsUsedAgainWhenAllFilesAreRead() {
    warmUp()
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var queue = extractor.queue()
    for _ in 0..<3 {
      queue.add([Self.source("a", descriptor), Self.source("b", descriptor)])
      let results = [queue.next(), queue.next()].map { Self.text($0).replacing("late, ", with: "") }
      #expect(results == ["read", "read"])
    }
    queue.end()
    #expect(extractor.restartCount == 0)
  }

  @Test func readerThatEndsBetweenFilesFailsNoFile() {
    warmUp()
    #expect(read(["a", "once", "b"]).map { $0.replacing("late, ", with: "") } == ["read", "read", "read"])
    #expect(extractor.blamedCount == 0 && extractor.restartCount >= 1)
  }

  @Test func fileThatTakesLongDelaysNoOther() {
    warmUp()
    let results = read(["a", "slow", "b"])
    #expect(results[0] == "read" && results[1] == "late, read")
    #expect(results[2].hasSuffix("read"))
    #expect(extractor.blamedCount == 0)
  }

  /// A process that computes is running. photod compares its processor time, because it could also wait for a processor.
  @Test(arguments: ["hang", "spin"]) func fileThatHangsItsReaderFails(name: String) async throws {
    warmUp()
    var results: [String] = []
    // On a busy machine, the process may get too little of the processor to be blamed.
    try await eventually("the process got enough of the processor") {
      results = await onOwnThread { read([name, "a"]) }
      return !results[0].contains("got no processor")
    }
    #expect(results[0] == "late, blamed for its time")
    #expect(results[1].hasSuffix("read"))
    #expect(extractor.blamedCount == 1)
  }

  @Test func readerThatSendsGarbageIsReplaced() {
    warmUp()
    #expect(read(["lies", "a"]).map { $0.replacing("late, ", with: "") } == ["blamed", "read"])
  }

  @Test func missingProgramFailsNoFile() {
    let extractor = Extractor(executable: "/nonexistent/photod-extract", readerCount: 1, logger: Logger(label: "test"))
    var queue = extractor.queue()
    for _ in 0..<2 { queue.add([Self.source("a", 0)]) }
    let results = [queue.next(), queue.next()]
    for result in results {
      #expect(Self.text(result).contains("unavailable: /nonexistent/photod-extract can't be started"))
    }
    queue.end()
    #expect(extractor.blamedCount == 0)
  }

  /// A sandbox that can't be set up, or a library that is missing, is no fault of the files.
  @Test func processThatDoesNotStartFailsNoFile() {
    let extractor = Extractor(executable: "/bin/false", readerCount: 1, logger: Logger(label: "test"))
    for _ in 0..<3 {
      let source = MediaSource(bytes: .descriptor(0), fileSystem: .drive(1), byteCount: 1, name: [])
      guard case .unavailable(let reason) = extractor.readToTheEnd(source) else {
        #expect(Bool(false), "the file is blamed")
        return
      }
      #expect(reason.contains("photod-extract does not start"))
    }
    #expect(extractor.blamedCount == 0 && extractor.restartCount <= 1, "the next start waits for a while")
  }

  /// The stop of photod waits for no file.
  @Test func endKillsAReaderThatHangs() async throws {
    warmUp()
    async let results = Task.detached { read(["hang"]) }.value
    try await eventually("the file is begun") { extractor.processCount > 0 }
    extractor.end()
    let result = await results
    #expect(result.allSatisfy { $0.contains("photod is stopping") || $0.contains("blamed for its time") }, "\(result)")
  }
}
