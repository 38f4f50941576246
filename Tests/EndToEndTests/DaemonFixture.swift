import Foundation
import Glibc
import PhotoModel
import TestPlaces
import Testing
import Varlink

/// A photod of its own: spawned from the build products, over a folder, a catalog and a socket in one temporary directory.
///
/// ```swift
/// try await DaemonFixture.with { fixture in
///   try fixture.write("a.jpg")
///   try await fixture.start()
///   try await fixture.synchronize()
/// }
/// ```
final class DaemonFixture {
  let directory: String
  var photos: String { directory + "/photos" }
  var socket: String { directory + "/s" }
  /// A folder of the fixture's, where the catalog is not beside the photos.
  var catalogFolder: String?
  var catalog: String { (catalogFolder ?? directory) + "/catalog.sqlite" }
  /// What the processes that are started get beside the test's own variables.
  var environment: [String: String] = [:]
  /// What starts photod: a program that becomes it, with its arguments.
  var launcher: [String] = []
  private(set) var process: Process?
  private let log: FileHandle

  private init() throws {
    var template = Array("/tmp/photod-e2e-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try FileManager.default.createDirectory(atPath: directory + "/photos", withIntermediateDirectories: true)
    _ = FileManager.default.createFile(atPath: directory + "/log", contents: nil)
    log = try #require(FileHandle(forWritingAtPath: directory + "/log"))
  }

  /// Runs `body` with a fixture, ends what it started, and removes its directory. When `body` fails the log is printed.
  static func with(_ body: (DaemonFixture) async throws -> Void) async throws {
    await InotifyPlaces.shared.enter()
    defer { InotifyPlaces.shared.leave() }
    let fixture = try DaemonFixture()
    do {
      try await body(fixture)
    } catch {
      fixture.kill(SIGKILL)
      print("---- photod's log:\n\(try fixture.logText().suffix(4000))----")
      try FileManager.default.removeItem(atPath: fixture.directory)
      throw error
    }
    fixture.kill(SIGKILL)
    try FileManager.default.removeItem(atPath: fixture.directory)
  }

  // MARK: The process

  func logText() throws -> String { try String(contentsOfFile: directory + "/log", encoding: .utf8) }

  /// The directory of the programs, which is that of the test bundle.
  static let products: String = {
    let fromBundle = CommandLine.arguments.first { $0.contains(".xctest") }
      .flatMap { argument in
        argument.range(of: "/[^/]*\\.xctest", options: .regularExpression).map { argument[..<$0.lowerBound] }
      }
    // Absolute: a program may be started from elsewhere.
    return fromBundle.map { URL(fileURLWithPath: String($0)).path } ?? ProcessInfo.processInfo.environment[
      "PHOTOD_PRODUCTS"]
      ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
  }()

  /// Starts photod and returns when it answers.
  func start(grace: Int = 0, roots: [String]? = nil, arguments: [String] = []) async throws {
    try spawn(grace: grace, roots: roots, arguments: arguments)
    let deadline = ContinuousClock.now + .seconds(20)
    while true {
      do {
        _ = try await status()
        return
      } catch let error as VarlinkClientError {
        guard ContinuousClock.now < deadline, process?.isRunning == true else { throw error }
        // The socket is not there yet: there is nothing to wait on but time.
        try await Task.sleep(for: .milliseconds(10))
      } catch let error as VarlinkError where error.name == "org.photod.library.LibraryUnavailable" {
        // It finds out just now that the catalog is damaged, and opens another.
        guard ContinuousClock.now < deadline else { throw error }
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  func spawn(grace: Int = 0, roots: [String]? = nil, arguments: [String] = []) throws {
    let process = Process()
    let program = Self.products + "/photod"
    process.executableURL = URL(fileURLWithPath: launcher.isEmpty ? program : "/usr/bin/env")
    process.arguments =
      (launcher.isEmpty ? [] : launcher + [program]) + (roots ?? [photos]).flatMap { ["--root", $0] }
      + ["--catalog", catalog, "--socket", socket, "--removal-grace", "\(grace)"] + arguments
    process.standardError = log
    process.standardOutput = log
    var environment = ProcessInfo.processInfo.environment
    environment["XDG_RUNTIME_DIR"] = directory
    environment["XDG_CONFIG_HOME"] = directory + "/config"
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment.merging(self.environment) { $1 }
    try process.run()
    self.process = process
  }

  /// With this photoctl finds the socket by itself, which takes ``linkSocket()``.
  var runtimeEnvironment: [String: String] { ["XDG_RUNTIME_DIR": directory + "/run"] }

  /// Where photoctl looks for it.
  func linkSocket() throws {
    try FileManager.default.createDirectory(atPath: directory + "/run/photod", withIntermediateDirectories: true)
    try #require(symlink(socket, directory + "/run/photod/photod.sock") == 0)
  }

  var processID: pid_t { process!.processIdentifier }

  /// Sends a signal and, if it ends the process, waits for its end.
  func kill(_ signal: Int32) {
    guard let process, process.isRunning else { return }
    Glibc.kill(process.processIdentifier, signal)
    if signal == SIGKILL || signal == SIGTERM { process.waitUntilExit() }
  }

  /// The photod-watch of this photod.
  func watchProcessID() throws -> pid_t {
    let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/task")
    for task in tasks {
      let children = try String(contentsOfFile: "/proc/\(processID)/task/\(task)/children", encoding: .utf8)
      if let child = children.split(separator: " ").first.flatMap({ pid_t($0) }) { return child }
    }
    throw POSIXError(.ESRCH)
  }

  // MARK: Calls

  func connect() async throws -> VarlinkClient { try await VarlinkClient.connect(path: socket) }

  func call<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable = VarlinkEmpty(), returning: Reply.Type = VarlinkEmpty.self
  ) async throws -> Reply {
    let client = try await connect()
    return try await client.call("org.photod.library." + method, parameters, returning: Reply.self)
  }

  func status() async throws -> LibraryStatus {
    struct Reply: Decodable { let status: LibraryStatus }
    return try await call("Status", returning: Reply.self).status
  }

  @discardableResult
  func synchronize(timeout: Double = 120) async throws -> String {
    struct Parameters: Encodable { let timeoutSeconds: Double }
    struct Reply: Decodable { let token: String }
    return try await call("Synchronize", Parameters(timeoutSeconds: timeout), returning: Reply.self).token
  }

  /// The first status of which this holds.
  @discardableResult
  func status(where holds: (LibraryStatus) -> Bool) async throws -> LibraryStatus {
    struct Reply: Decodable { let status: LibraryStatus }
    let client = try await connect()
    for try await reply in client.stream("org.photod.library.Status", VarlinkEmpty(), of: Reply.self)
    where holds(reply.status) {
      await client.close()
      return reply.status
    }
    throw POSIXError(.EPIPE)
  }

  func assets(_ options: FetchOptions = FetchOptions()) async throws -> [Asset] {
    struct Parameters: Encodable { let options: FetchOptions }
    struct Page: Decodable { let assets: [Asset] }
    let client = try await connect()
    var assets: [Asset] = []
    for try await page in client.stream("org.photod.library.Fetch", Parameters(options: options), of: Page.self) {
      assets += page.assets
    }
    return assets
  }

  func ids(_ options: FetchOptions = FetchOptions()) async throws -> (token: String, ids: [Int64]) {
    struct Parameters: Encodable { let options: FetchOptions }
    struct Page: Decodable {
      let token: String
      let ids: [Int64]
    }
    let client = try await connect()
    var ids: [Int64] = []
    var token = ""
    for try await page in client.stream("org.photod.library.FetchIDs", Parameters(options: options), of: Page.self) {
      ids += page.ids
      token = page.token
    }
    return (token, ids)
  }

  @discardableResult
  func setFavorite(_ ids: [Int64], _ isFavorite: Bool = true, clientName: String = "test") async throws -> String {
    struct Parameters: Encodable {
      let requests: [ChangeRequest]
      let clientName: String
    }
    struct Reply: Decodable { let token: String }
    let request = ChangeRequest(editAsset: .init(ids: ids, isFavorite: isFavorite))
    return try await call(
      "PerformChanges", Parameters(requests: [request], clientName: clientName), returning: Reply.self
    ).token
  }

  func changes(since: String) async throws -> [PersistentChange] {
    struct Parameters: Encodable { let since: String }
    struct Reply: Decodable { let changes: [PersistentChange] }
    return try await call("FetchPersistentChanges", Parameters(since: since), returning: Reply.self).changes
  }

  // MARK: Photos

  /// A real photo of a few kilobytes; `variant` makes its bytes and size its own.
  static func photo(_ variant: Int = 0) -> Data {
    sample + Data(String(repeating: "\(variant) ", count: 1 + abs(variant) % 7).utf8)
  }

  private static let sample: Data = {
    let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/made/gen/2011/01/DSC_0000096.JPG")
    do { return try Data(contentsOf: fixtures) } catch { fatalError("the fixture photo is missing: \(error)") }
  }()

  func path(_ name: String) -> String { photos + "/" + name }

  func write(_ name: String, _ variant: Int = 0) throws {
    let path = path(name)
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Self.photo(variant).write(to: URL(fileURLWithPath: path))
  }

  /// Content only: the tests may run as another user than the one who owns the checkout.
  func copyFolder(_ folder: URL, to name: String) throws {
    for entry in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.isDirectoryKey])
    {
      let target = name + "/" + entry.lastPathComponent
      if try entry.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
        try copyFolder(entry, to: target)
      } else {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        try Data(contentsOf: entry).write(to: URL(fileURLWithPath: path(target)))
      }
    }
  }

  func move(_ from: String, _ to: String) throws {
    try #require(rename(path(from), path(to)) == 0, "rename \(from) \(to): \(String(cString: strerror(errno)))")
  }

  /// What a walk finds: photos of at least one byte.
  func pathsOnDisk() throws -> Set<String> {
    var found: Set<String> = []
    let keys: [URLResourceKey] = [.fileSizeKey, .isRegularFileKey]
    let walk = try #require(
      FileManager.default.enumerator(at: URL(fileURLWithPath: photos), includingPropertiesForKeys: keys))
    for case let url as URL in walk where ["jpg", "jpeg"].contains(url.pathExtension.lowercased()) {
      let values = try url.resourceValues(forKeys: Set(keys))
      if values.isRegularFile == true, (values.fileSize ?? 0) > 0 { found.insert(url.path) }
    }
    return found
  }

  func pathsInLibrary() async throws -> Set<String> { Set(try await assets().map { $0.resources[0].path }) }

  /// The library equals the disk, once it has caught up.
  func expectEqualToDisk(_ comment: String = "", sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await synchronize()
    let disk = try pathsOnDisk()
    let library = try await pathsInLibrary()
    let missing = disk.subtracting(library).sorted()
    let extra = library.subtracting(disk).sorted()
    #expect(
      missing.isEmpty && extra.isEmpty,
      "\(comment): \(missing.count) missing, \(extra.count) extra; \(missing.first ?? "") \(extra.first ?? "")",
      sourceLocation: sourceLocation)
    #expect(try await assets().count == library.count, "a path twice", sourceLocation: sourceLocation)
  }
}

/// How much of the long tests runs: their number from the environment, else what `make test` has time for.
func effort(_ variable: String, _ usual: Int) -> Int {
  ProcessInfo.processInfo.environment[variable].flatMap(Int.init) ?? usual
}

/// A small generator whose sequence a seed decides (https://prng.di.unimi.it/splitmix64.c).
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: Int) { state = UInt64(bitPattern: Int64(seed)) }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
