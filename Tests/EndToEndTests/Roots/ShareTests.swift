import Foundation
import Glibc
import PhotoClient
import PhotoContract
import PhotoTestSupport
import Testing
import Varlink

/// A root on a FUSE file system whose program is stopped, like a share whose server is gone.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: Share.isPossible, "FUSE needs root, /dev/fuse and bindfs"))
struct ShareTests {
  @Test func shareThatHangsDelaysOnlyItself() async throws {
    try await VolumeFixture.with { fixture in
      let daemon = fixture.daemon
      let share = try Share(fixture)
      defer { share.end() }
      try share.write("a.jpg", 1)
      try daemon.write("local.jpg", 2)
      try await fixture.start(roots: [fixture.photos, share.path])
      #expect(try await daemon.pathsInLibrary() == [daemon.path("local.jpg"), share.path + "/a.jpg"])
      let favorite = try #require(try await daemon.assets().first { $0.resources[0].path == share.path + "/a.jpg" }).id
      try await daemon.setFavorite([favorite])

      share.stop()
      var began = ContinuousClock.now
      try daemon.write("new.jpg", 3)
      try await daemon.status { $0.assetCount == 3 }
      #expect(ContinuousClock.now - began < .seconds(3))
      began = .now
      _ = try await fixture.explain(share.path + "/b.jpg")
      #expect(ContinuousClock.now - began < .seconds(10))
      // This sync waits until photod knows that the share does not answer. Later ones do not wait for it.
      try await daemon.synchronize(timeout: 60)
      let root = try #require(try await daemon.status().roots.first { $0.path == share.path })
      #expect(root.state == .offline && root.reason?.contains("does not answer") == true, "\(root)")
      began = .now
      try daemon.write("newer.jpg", 4)
      try await daemon.synchronize(timeout: 60)
      #expect(try await daemon.pathsInLibrary().contains(daemon.path("newer.jpg")))
      #expect(try await fixture.explain(share.path + "/b.jpg").state == "offline")
      #expect(ContinuousClock.now - began < .seconds(5))

      share.resume()
      try share.write("b.jpg", 5)
      try await daemon.status { $0.assetCount == 5 && $0.state == .live }
      try await fixture.roots(.online)
      try await daemon.synchronize()
      let back = try #require(try await daemon.assets().first { $0.resources[0].path == share.path + "/a.jpg" })
      #expect(back.id == favorite && back.available)

      share.stop()
      began = .now
      daemon.kill(SIGTERM)
      #expect(ContinuousClock.now - began < .seconds(2))
      #expect(daemon.process?.terminationStatus == 0)
    }
  }

  @Test func pictureAndFileOfAShareThatHangsDelayNoOther() async throws {
    try await VolumeFixture.with { fixture in
      let daemon = fixture.daemon
      let share = try Share(fixture)
      defer { share.end() }
      try share.write("a.jpg", 1)
      try daemon.write("local.jpg", 2)
      try await fixture.start(roots: [fixture.photos, share.path])
      let assets = try await daemon.assets()
      let remote = try #require(assets.first { $0.resources[0].path == share.path + "/a.jpg" })
      let local = try #require(assets.first { $0.resources[0].path == daemon.path("local.jpg") })
      let socket = daemon.socket
      share.stop()
      let began = ContinuousClock.now
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            let client = try await VarlinkClient.connect(path: socket)
            let error = try await #require(throws: VarlinkError.self) {
              _ = try await client.call(
                "org.photod.images.ReadResource", ReadResourceRequest(assetID: remote.id, resource: 0),
                returning: ReadResourceReply.self)
            }
            #expect(error.name == "org.photod.images.ResourceUnavailable")
          }
        }
        group.addTask {
          let client = try await VarlinkClient.connect(path: socket)
          let page = try await client.call(
            "org.photod.images.ReadResource", ReadResourceRequest(assetID: local.id, resource: 0),
            returning: ReadResourceReply.self)
          #expect(page.total == local.resources[0].byteCount)
          let requests = [remote, local].enumerated().map { index, asset in
            ImageRequest(id: Int64(index), assetID: asset.id, targetWidth: 128, targetHeight: 128)
          }
          var kinds: [Int64: ImageFailure.Kind?] = [:]
          for try await reply in client.stream(
            "org.photod.images.MakeImages", MakeImagesRequest(requests: requests), of: MakeImagesReply.self)
          {
            for result in reply.results { kinds[result.requestID] = .some(result.failure?.kind) }
          }
          #expect(kinds == [0: .unavailable, 1: nil])
        }
        try await group.waitForAll()
      }
      #expect(ContinuousClock.now - began < .seconds(8))
      share.resume()
    }
  }

  @Test func photodStartsWhileAShareHangs() async throws {
    try await VolumeFixture.with { fixture in
      let daemon = fixture.daemon
      let share = try Share(fixture)
      defer { share.end() }
      try share.write("a.jpg", 1)
      try daemon.write("local.jpg", 2)
      share.stop()
      try await daemon.start(roots: [fixture.photos, share.path])
      try await daemon.status { $0.assetCount == 1 }
      try await daemon.status { $0.state == .live }
      share.resume()
      try await daemon.status { $0.assetCount == 2 && $0.state == .live }
    }
  }

  @Test func shareBelowAFolderIsLeftOutAndDelaysNoCall() async throws {
    try await VolumeFixture.with { fixture in
      let daemon = fixture.daemon
      let share = try Share(fixture, at: fixture.photos + "/nas")
      defer { share.end() }
      try share.write("a.jpg", 1)
      try daemon.write("local.jpg", 2)
      try await fixture.start()
      #expect(try await daemon.pathsInLibrary() == [daemon.path("local.jpg")])
      let warning = "\(share.path) is a share that is mounted below a folder of the library. It is left out"
      #expect(try await daemon.status().warnings.contains { $0.hasPrefix(warning) && $0.contains("`roots`") })
      let watcher = try daemon.watchProcessID()

      share.stop()
      let began = ContinuousClock.now
      try daemon.write("new.jpg", 3)
      try await daemon.synchronize()
      _ = try await fixture.rescan(fixture.photos)
      let explanation = try await fixture.explain(share.path + "/a.jpg")
      #expect(explanation.state == "outside" && explanation.reason.contains("add it to `roots`"))
      #expect(try await daemon.pathsInLibrary() == [daemon.path("local.jpg"), daemon.path("new.jpg")])
      #expect(ContinuousClock.now - began < .seconds(15))
      #expect(try daemon.watchProcessID() == watcher)
      share.resume()
    }
  }

  @Test func shareBelowAFolderThatIsNamedIsARootWhileItIsMounted() async throws {
    try await VolumeFixture.with { fixture in
      let daemon = fixture.daemon
      let share = try Share(fixture, at: fixture.photos + "/nas", isMounted: false)
      defer { share.end() }
      try share.write("a.jpg", 1)
      try daemon.write("local.jpg", 2)
      let (local, remote) = (daemon.path("local.jpg"), share.path + "/a.jpg")
      try await fixture.start(roots: [fixture.photos, share.path])
      #expect(try await daemon.pathsInLibrary() == [local])
      try share.mount(fixture)
      try await daemon.status { $0.assetCount == 2 && $0.state == .live }
      #expect(try await daemon.pathsInLibrary() == [local, remote])
      // photod polls it, as it polls every share. It must not report the share as left out.
      let warnings = try await daemon.status().warnings
      #expect(!warnings.contains { $0.contains("left out") || $0.contains("another file system") }, "\(warnings)")
      let id = try #require(try await daemon.assets().first { $0.resources[0].path == remote }).id
      try await daemon.setFavorite([id])

      share.stop()
      var began = ContinuousClock.now
      try daemon.write("new.jpg", 3)
      try await daemon.status { $0.assetCount == 3 }
      #expect(ContinuousClock.now - began < .seconds(3))
      share.resume()
      try await daemon.synchronize(timeout: 60)

      // The photo stays while the share is unmounted, even if photod starts without it.
      daemon.kill(SIGTERM)
      try share.unmount(fixture)
      try await daemon.start(roots: [fixture.photos, share.path])
      try await fixture.roots(.offline, share.path)
      #expect(try await daemon.assets().first { $0.id == id }.map { !$0.available } == true)
      try share.mount(fixture)
      began = .now
      try await fixture.roots(.online, share.path)
      try await daemon.status { $0.assetCount == 3 && $0.state == .live }
      let back = try #require(try await daemon.assets().first { $0.id == id })
      #expect(back.available && back.isFavorite && back.resources[0].path == remote)
    }
  }

  @Test func shareThatIsMountedLaterGetsAWatcherOfItsOwn() async throws {
    try await VolumeFixture.with { fixture in
      let daemon = fixture.daemon
      let share = try Share(fixture, isMounted: false)
      defer { share.end() }
      try share.write("a.jpg", 1)
      try await fixture.start(roots: [fixture.photos, share.path])
      try share.mount(fixture)
      try await daemon.status { $0.assetCount == 1 && $0.state == .live }
      share.stop()
      let began = ContinuousClock.now
      try daemon.write("new.jpg", 3)
      try await daemon.status { $0.assetCount == 2 }
      #expect(ContinuousClock.now - began < .seconds(3))
    }
  }
}

/// Failures of the system while a share is mounted, and calls of photod itself into a share.
@Suite(
  .serialized, .timeLimit(.minutes(10)), .enabled(if: Share.isPossible, "FUSE needs root, /dev/fuse and bindfs"),
  .enabled(if: FaultInjector.isAvailable, "cc is not installed"))
struct ShareFaultTests {
  /// The root stays offline, and no other root notices it. The attempts have pauses between them.
  @Test(arguments: [(FaultInjector.Call.socketpair, EMFILE), (.spawn, ENOMEM)])
  func shareWhoseProcessesCannotBeStartedDelaysNoOtherRoot(call: FaultInjector.Call, error: Int32) async throws {
    try await VolumeFixture.with { fixture in
      let daemon = fixture.daemon
      let injector = try FaultInjector(directory: daemon.directory, program: "photod")
      daemon.environment = try injector.environment
      let share = try Share(fixture, isMounted: false)
      defer { share.end() }
      try share.write("a.jpg", 1)
      try await fixture.start(roots: [fixture.photos, share.path])

      injector.arm(call, error: error, 1 ... .max, below: "")
      try share.mount(fixture)
      try await eventually("photod tries to start them") { injector.firedCount > 0 }
      try daemon.write("new.jpg", 3)
      try await daemon.synchronize(timeout: 10)
      #expect(try await daemon.pathsInLibrary() == [daemon.path("new.jpg")])
      let root = try #require(try await daemon.status().roots.first { $0.path == share.path })
      #expect(root.state == .offline, "\(root)")
      // The test needs this time.
      try await Task.sleep(for: .seconds(3))
      try await daemon.synchronize(timeout: 10)
      #expect(injector.firedCount < 40)
      _ = try await fixture.explain(share.path + "/a.jpg")

      injector.disarm()
      try await daemon.status { $0.assetCount == 2 && $0.state == .live }
      try await fixture.roots(.online)
    }
  }

  /// - Parameter count: the number of failures.
  @Test(
    arguments: [
      ("photod", FaultInjector.Call.open, EMFILE, UInt64.max), ("photod-watch", .open, EMFILE, .max),
      ("photod", .read, ENOMEM, 3), ("photod-watch", .read, ENOMEM, 3),
    ])
  func shareIsRecognisedAlthoughTheMountTableCouldNotBeRead(
    program: String, call: FaultInjector.Call, error: Int32, count: UInt64
  ) async throws {
    try await VolumeFixture.with { fixture in
      let daemon = fixture.daemon
      let injector = try FaultInjector(directory: daemon.directory, program: program)
      daemon.environment = try injector.environment
      let share = try Share(fixture, isMounted: false)
      defer { share.end() }
      try share.write("a.jpg", 1)
      try await fixture.start(roots: [fixture.photos, share.path])

      let reader = program == "photod" ? daemon.processID : try daemon.watchProcessID()
      let table = call == .read ? "/proc/\(reader)/mountinfo" : "/proc/self/mountinfo"
      injector.arm(call, error: error, 1...count, below: table)
      try share.mount(fixture)
      try await daemon.status { $0.assetCount == 1 && $0.state == .live }
      try await daemon.synchronize(timeout: 20)
      if call == .read { #expect(injector.firedCount > 0, "the table was read") }
      share.stop()
      let began = ContinuousClock.now
      try daemon.write("new.jpg", 3)
      try await daemon.status { $0.assetCount == 2 }
      #expect(ContinuousClock.now - began < .seconds(3))
    }
  }

  private func expectPictureAndBytes(of asset: Asset, in daemon: DaemonFixture, _ expected: Data) async throws {
    let library = PhotoLibrary(socketPath: daemon.socket)
    for delivery in [ImageDeliveryMode.fast, .highQuality] {
      var options = ImageRequestOptions()
      options.deliveryMode = delivery
      let images = ImageManager(of: library)
      defer { images.close() }
      for try await image in images.requestImage(
        for: asset.id, targetSize: ImageSize(width: 64, height: 64), options: options)
      {
        #expect(image.revision == asset.revision && image.width <= 160)
      }
    }
    let client = try await VarlinkClient.connect(path: daemon.socket)
    let request = ImageRequest(id: 1, assetID: asset.id, targetWidth: 128, targetHeight: 128)
    var made = 0
    for try await reply in client.stream(
      "org.photod.images.MakeImages", MakeImagesRequest(requests: [request]), of: MakeImagesReply.self)
    {
      for result in reply.results {
        #expect(result.image != nil, "\(result)")
        made += 1
      }
    }
    #expect(made == 1)
    var bytes = Data()
    for try await page in client.stream(
      "org.photod.images.ReadResource", ReadResourceRequest(assetID: asset.id, resource: 0), of: ReadResourceReply.self)
    {
      bytes += try #require(Data(base64Encoded: page.data))
    }
    #expect(bytes == expected)
  }

  /// A disk of the server fails, or a soft mount gives up. Both may be over at the next request.
  @Test(arguments: [EIO, ETIMEDOUT, ESTALE]) func photoThatTheShareFailsToReadIsUnavailable(error: Int32) async throws {
    try await VolumeFixture.with { fixture in
      let daemon = fixture.daemon
      let injector = try FaultInjector(directory: daemon.directory, program: "photod-watch")
      daemon.environment = try injector.environment
      let share = try Share(fixture)
      defer { share.end() }
      try share.write("a.jpg", 1)
      try await fixture.start(roots: [fixture.photos, share.path])
      try await daemon.status { $0.assetCount == 1 && $0.state == .live }
      let asset = try #require(try await daemon.assets().first)

      injector.arm(.read, error: error, 1 ... .max, below: share.path)
      let client = try await VarlinkClient.connect(path: daemon.socket)
      let request = ImageRequest(id: 1, assetID: asset.id, targetWidth: 128, targetHeight: 128)
      var failures: [ImageFailure?] = []
      for try await reply in client.stream(
        "org.photod.images.MakeImages", MakeImagesRequest(requests: [request]), of: MakeImagesReply.self)
      {
        failures += reply.results.map(\.failure)
      }
      #expect(failures.map { $0?.kind } == [.unavailable])
      #expect(failures.first??.message.contains(String(cString: strerror(error))) == true, "\(failures)")
      let refusal = try await #require(throws: VarlinkError.self) {
        _ = try await client.call(
          "org.photod.images.ReadResource", ReadResourceRequest(assetID: asset.id, resource: 0),
          returning: ReadResourceReply.self)
      }
      #expect(refusal.name == "org.photod.images.ResourceUnavailable", "\(refusal)")
      #expect(injector.firedCount > 0)

      injector.disarm()
      try await expectPictureAndBytes(of: asset, in: daemon, DaemonFixture.photo(1))
    }
  }

  /// A call of photod into a share may never return, and then the thread is lost.
  @Test(arguments: [FaultInjector.Call.open, .stat, .read, .list, .map])
  func photodMakesNoSystemCallOnAShare(call: FaultInjector.Call) async throws {
    try await VolumeFixture.with { fixture in
      let daemon = fixture.daemon
      let injector = try FaultInjector(directory: daemon.directory, program: "photod")
      daemon.environment = try injector.environment
      let share = try Share(fixture)
      defer { share.end() }
      try share.write("a.jpg", 1)
      try daemon.write("local.jpg", 2)
      // No call fails. They are only counted.
      injector.arm(call, error: EIO, .max ... .max, below: share.path)
      try await fixture.start(roots: [fixture.photos, share.path])
      try await daemon.status { $0.assetCount == 2 && $0.state == .live }
      try share.write("b.jpg", 3)
      _ = try await fixture.rescan(share.path)
      try await daemon.status { $0.assetCount == 3 && $0.state == .live }
      for name in ["", "/a.jpg", "/none.jpg", "/none/none.jpg"] { _ = try await fixture.explain(share.path + name) }
      _ = try await fixture.rescan()
      daemon.kill(SIGHUP)
      try await daemon.synchronize()
      try share.rename("a.jpg", "c.jpg")
      _ = try await fixture.rescan(share.path)
      try await daemon.synchronize()
      let moved = try #require(try await daemon.assets().first { $0.resources[0].path == share.path + "/c.jpg" })
      #expect(injector.callCount == 0)
      try await expectPictureAndBytes(of: moved, in: daemon, DaemonFixture.photo(1))
      #expect(injector.callCount == 0)

      // The counter counts: photod itself opens files of drives. photod-extract reads them.
      if [.open, .stat].contains(call) {
        injector.arm(call, error: EIO, .max ... .max, below: fixture.photos)
        try daemon.write("new.jpg", 4)
        try await daemon.status { $0.assetCount == 4 }
        #expect(injector.callCount > 0)
        injector.arm(call, error: EIO, .max ... .max, below: share.path)
      }
      share.stop()
      daemon.kill(SIGTERM)
      #expect(daemon.process?.terminationStatus == 0)
      #expect(injector.callCount == 0)
    }
  }
}

/// A folder that bindfs serves at another path. The bindfs program can be stopped.
private final class Share {
  static let isPossible =
    MountNamespace.isRoot && access("/dev/fuse", R_OK | W_OK) == 0
    && system("command -v bindfs >/dev/null 2>&1") == 0

  let path: String
  private let source: String
  private var process: pid_t = 0

  init(_ fixture: VolumeFixture, at path: String? = nil, isMounted: Bool = true) throws {
    self.path = path ?? fixture.daemon.directory + "/share"
    source = fixture.daemon.directory + "/served"
    for folder in [self.path, source] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    if isMounted { try mount(fixture) }
  }

  func mount(_ fixture: VolumeFixture) throws {
    let said = try fixture.namespace.run(
      """
      bindfs -f '\(source)' '\(path)' >/dev/null 2>&1 & echo $!
      until grep -q ' \(path) ' /proc/self/mountinfo; do sleep 0.01; done
      """)
    process = try #require(pid_t(said.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  func write(_ name: String, _ variant: Int) throws {
    try DaemonFixture.photo(variant).write(to: URL(fileURLWithPath: source + "/" + name))
  }

  func rename(_ name: String, _ other: String) throws {
    try FileManager.default.moveItem(atPath: source + "/" + name, toPath: source + "/" + other)
  }

  func unmount(_ fixture: VolumeFixture) throws {
    try fixture.namespace.run("umount '\(path)'")
    process = 0
  }

  func stop() { kill(process, SIGSTOP) }

  func resume() { kill(process, SIGCONT) }

  func end() {
    guard process > 0 else { return }
    kill(process, SIGKILL)
    process = 0
  }
}
