import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

/// A photod in a mount namespace, with its photos on drives.
final class VolumeFixture {
  let daemon: DaemonFixture
  let namespace: MountNamespace
  var photos: String { daemon.photos }

  private init(_ daemon: DaemonFixture) throws {
    self.daemon = daemon
    namespace = try MountNamespace(folder: daemon.directory)
    daemon.launcher = namespace.entry
    try FileManager.default.createDirectory(atPath: samples, withIntermediateDirectories: true)
    for number in 0..<40 {
      try DaemonFixture.photo(number).write(to: URL(fileURLWithPath: samples + "/\(number).jpg"))
    }
  }

  static func with(_ body: (VolumeFixture) async throws -> Void) async throws {
    try await DaemonFixture.with { daemon in
      let fixture = try VolumeFixture(daemon)
      defer {
        daemon.kill(SIGKILL)
        fixture.namespace.end()
      }
      try await body(fixture)
    }
  }

  /// The folder of 40 photos in seven sizes.
  var samples: String { daemon.directory + "/samples" }

  /// Makes a drive with `count` photos at its top, and two in a folder. The photos of the drive with the name `drive`
  /// are an hour old, those of others two hours.
  func drive(_ kind: Drive.Kind, _ name: String = "drive", photos count: Int = 12) throws -> Drive {
    let drive = Drive(kind: kind, namespace: namespace, path: daemon.directory + "/" + name)
    try drive.make()
    try drive.away(
      """
      for n in $(seq 1 \(count)); do cp '\(samples)'/$((n % 40)).jpg \(name)-$n.jpg; done
      mkdir folder; cp '\(samples)'/3.jpg folder/\(name)-a.jpg; cp '\(samples)'/4.jpg folder/\(name)-b.jpg
      touch -d '\(name == "drive" ? 1 : 2) hours ago' *.jpg folder/*.jpg
      """)
    return drive
  }

  func start(grace: Int = 0, roots: [String]? = nil) async throws {
    try await daemon.start(grace: grace, roots: roots)
    try await daemon.status { $0.state == .live }
    try await daemon.synchronize()
  }

  /// Waits until a root, or all roots, are in a state, and no work is pending.
  @discardableResult
  func roots(_ state: LibraryStatus.Root.State, _ path: String? = nil) async throws -> LibraryStatus {
    try await daemon.status { status in
      let roots = status.roots.filter { path == nil || $0.path == path }
      return status.state == .live && status.pendingCount == 0 && !roots.isEmpty
        && roots.allSatisfy { $0.state == state }
    }
  }

  /// The ids by the path below the photos' folder.
  func ids() async throws -> [String: AssetID] {
    Dictionary(
      uniqueKeysWithValues: try await daemon.assets().map {
        (String($0.resources[0].path.dropFirst(photos.utf8.count + 1)), $0.id)
      })
  }

  func available() async throws -> Set<AssetID> {
    let assets = try await daemon.assets()
    let available = Set(assets.filter(\.available).map(\.id))
    // Other queries of the catalog must give the same.
    #expect(Set(try await daemon.ids(FetchOptions(excludeUnavailable: true)).ids) == available)
    #expect(Set(try await daemon.ids(FetchOptions(predicate: "available == true")).ids) == available)
    return available
  }

  func counters() async throws -> LibraryStatus.Counters {
    try await daemon.synchronize()
    return try #require(try await daemon.status().counters)
  }

  /// Waits for the next change of availability, and returns all changes since the token.
  func nextChanges(since token: String) async throws -> [PersistentChange] {
    var known = token
    while try await daemon.changes(since: token).isEmpty {
      known = try await daemon.status { $0.token != known && $0.state == .live }.token
    }
    try await daemon.synchronize()
    return try await daemon.changes(since: token)
  }

  /// Expects no warning, except that a file system in user space is polled.
  func expectNoWarnings(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let warnings = try await daemon.status().warnings.filter { !$0.contains("polled every few seconds") }
    #expect(warnings == [], sourceLocation: sourceLocation)
  }

  func rescan(_ path: String? = nil, dryRun: Bool = false, confirm: Bool = false) async throws -> Rescanned {
    struct Parameters: Encodable {
      let path: String?
      let dryRun: Bool
      let confirm: Bool
    }
    return try await daemon.call(
      "Rescan", Parameters(path: path, dryRun: dryRun, confirm: confirm), returning: Rescanned.self)
  }

  struct Rescanned: Decodable, Equatable {
    var inserted: Int
    var updated: Int
    var removed: Int
    var heldBack: Int?
  }

  func explain(_ path: String) async throws -> (state: String, reason: String) {
    struct Parameters: Encodable { let path: String }
    struct Reply: Decodable {
      let state: String
      let reason: String
    }
    let reply = try await daemon.call("Explain", Parameters(path: path), returning: Reply.self)
    return (reply.state, reply.reason)
  }
}
