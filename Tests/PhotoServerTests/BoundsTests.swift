import Foundation
import Glibc
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

@testable import PhotoIndexer
@testable import PhotoServer

/// The bounds of the parameters of calls.
@Suite(.timeLimit(.minutes(10))) struct BoundsTests {
  private struct Reply: Decodable {
    struct Parameters: Decodable {
      let parameter: String?
      let ids: [AssetID]?
      let state: String?
    }
    let error: String?
    let parameters: Parameters?
  }

  private func reply(_ socket: RawSocket, _ method: String, _ parameters: String) async throws -> Reply {
    try socket.send(#"{"method":"org.photod.library.\#(method)","parameters":\#(parameters)}"#)
    let data = try await socket.receive()
    #expect(data.count <= 1 << 20)
    return try JSONDecoder().decode(Reply.self, from: data)
  }

  private static let interfaces = [
    ("org.photod.library", InterfaceDefinition.library), ("org.photod.manage", InterfaceDefinition.manage),
  ]

  private static let images = ("org.photod.images", InterfaceDefinition.images)

  /// Runs `body` for each interface file, with the socket of a service that has this interface.
  private func forEachInterface(
    _ body: @Sendable (_ interface: String, ContractText, RawSocket) async throws -> Void
  ) async throws {
    try await ServerFixture().serving { path, failures in
      for (interface, text) in Self.interfaces { try await body(interface, ContractText(text), RawSocket(path: path)) }
      #expect(failures() == [])
    }
    try await ImageFixture().serving { path in
      try await body(Self.images.0, ContractText(Self.images.1), RawSocket(path: path))
    }
  }

  private static let invalid = "org.varlink.service.InvalidParameter"

  /// Each string and each array of each request of the interface files.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func aMemberBeyondItsBoundIsNamed() async throws {
    try await forEachInterface { interface, contract, socket in
      for member in contract.requestMembers {
        let bound = try #require(contract.bounds[member.name], "\(member.name)")
        for (value, place) in Self.valuesBeyond(bound, ofText: member.hasText) {
          // A call that asks for one reply is answered with one error too.
          try socket.send(
            #"{"method":"\#(interface).\#(member.method)","more":true,"parameters":\#(member.request(with: value))}"#)
          let reply = try JSONDecoder().decode(Reply.self, from: try await socket.receive())
          #expect(reply.error == Self.invalid, "\(member.name)")
          #expect(reply.parameters?.parameter == member.path + place, "\(member.name)")
        }
      }
    }
  }

  /// - Returns: JSON texts, each with the place of the fault within the member.
  private static func valuesBeyond(_ bound: ContractText.Bound, ofText isText: Bool) -> [(String, place: String)] {
    let text = bound.bytes.map { #""\#(String(repeating: "a", count: $0 + 1))""# }
    guard let count = bound.count else { return text.map { [($0, "")] } ?? [] }
    let element = isText ? #""a""# : "1"
    let long = "[" + String(repeating: element + ",", count: count) + element + "]"
    return [(long, "")] + (text.map { [("[\(element),\($0)]", "[1]")] } ?? [])
  }

  @Test func anUnknownMemberIsNamed() async throws {
    let fixture = try ServerFixture()
    try await fixture.serving { path, failures in
      let socket = try RawSocket(path: path)
      let calls = [
        ("Fetch", #"{"options":{"colection":"smart:favorites"}}"#, "options.colection"),
        ("Fetch", #"{"ofset":1}"#, "ofset"),
        (
          "Fetch", #"{"options":{"sortDescriptors":[{"key":"id","ascending":true},{"key":"id","asc":true}]}}"#,
          "options.sortDescriptors[1].asc"
        ),
        (
          "PerformChanges", #"{"requests":[{"editAsset":{"ids":[1],"isFavourite":true}}]}"#,
          "requests[0].editAsset.isFavourite"
        ),
        ("GetAssets", #"{"ids":[],"\u0078":[{"a":"\"}"}]}"#, "x"),
        ("Status", #"{"all":true}"#, "all"),
        ("Fetch", #"{"\#(String(repeating: "n", count: 2 << 20))":1}"#, String(repeating: "n", count: 100)),
      ]
      for (method, parameters, name) in calls {
        let reply = try await reply(socket, method, parameters)
        #expect(reply.error == Self.invalid && reply.parameters?.parameter == name, "\(method) \(name)")
      }
      for parameters in ["{}", #"{"options":null}"#, #"{ "options" : {"predicate": "id > 0 AND title != '}{,'"} }"#] {
        #expect(try await reply(socket, "Fetch", parameters).error == nil)
      }
      #expect(failures() == [])
    }
  }

  /// Each object of each request of the interface files.
  @Test func anUnknownMemberOfAnyObjectIsNamed() async throws {
    try await forEachInterface { interface, contract, socket in
      let members = contract.unknownMembers(named: "zz")
      #expect(Set(members.map(\.method)) == Set(contract.requests.keys))
      let nested = Self.nestedObjects[interface] ?? []
      #expect(Set(members.map(\.path)).isSuperset(of: nested), "\(members.map(\.path))")
      for member in members {
        try socket.send(
          #"{"method":"\#(interface).\#(member.method)","more":true,"parameters":\#(member.request(with: "1"))}"#)
        let reply = try JSONDecoder().decode(Reply.self, from: try await socket.receive())
        #expect(reply.error == Self.invalid, "\(member.method) \(member.path)")
        #expect(reply.parameters?.parameter == member.path, "\(member.method) \(member.path)")
      }
    }
  }

  /// Unknown members that the test must have tried, so that it does not only look at the outermost object.
  private static let nestedObjects = [
    "org.photod.library": [
      "zz", "options.zz", "options.sortDescriptors[0].zz", "requests[0].zz", "requests[0].editAsset.zz",
    ],
    "org.photod.images": ["zz", "requests[0].zz"],
  ]

  /// A reply may contain words that a client does not know. A request with an unknown word asks for something
  /// unsupported.
  @Test func anUnknownWordIsNamed() async throws {
    let fixture = try ServerFixture()
    try await fixture.serving { path, failures in
      let socket = try RawSocket(path: path)
      for word in ["person", "unknown", ""] {
        for method in ["FetchCollections", "ObserveCollections"] {
          let reply = try await reply(socket, method, #"{"kinds":["album","\#(word)"]}"#)
          #expect(reply.error == Self.invalid && reply.parameters?.parameter == "kinds[1]", "\(method) \(word)")
        }
      }
      #expect(try await reply(socket, "FetchCollections", #"{"kinds":["album","folderAlbum"]}"#).error == nil)
      let other = try await reply(socket, "Fetch", #"{"options":{"mediaTypes":["image","hologram"]}}"#)
      #expect(other.error == Self.invalid && other.parameters?.parameter == "options.mediaTypes[1]")
      #expect(failures() == [])
    }
  }

  @Test func aCallChangesAtMostAThousandAssets() async throws {
    let fixture = try ServerFixture()
    try fixture.insert()
    try await fixture.serving { path, failures in
      let socket = try RawSocket(path: path)
      func edit(_ ids: Range<Int>) -> String {
        #"{"editAsset":{"ids":[\#(ids.map(String.init).joined(separator: ","))],"isFavorite":true}}"#
      }
      let many = try await reply(socket, "PerformChanges", #"{"requests":[\#(edit(1..<1_002))]}"#)
      #expect(many.error == Self.invalid && many.parameters?.parameter == "requests[0].editAsset.ids")
      let twice = try await reply(socket, "PerformChanges", #"{"requests":[\#(edit(1..<600)),\#(edit(1..<600))]}"#)
      #expect(twice.error == Self.invalid && twice.parameters?.parameter == "requests[1].editAsset.ids")
      // Requests that photod does not know yet count, too.
      let trash = #"{"restoreAssets":[\#((1..<600).map(String.init).joined(separator: ","))]}"#
      let trashed = try await reply(socket, "PerformChanges", #"{"requests":[\#(edit(1..<600)),\#(trash)]}"#)
      #expect(trashed.error == Self.invalid && trashed.parameters?.parameter == "requests[1].restoreAssets")
      let requests = Array(repeating: "{}", count: 1_001).joined(separator: ",")
      #expect(try await reply(socket, "PerformChanges", #"{"requests":[\#(requests)]}"#).error == Self.invalid)
      let missing = try await reply(socket, "PerformChanges", #"{"requests":[\#(edit(1..<1_001))]}"#)
      #expect(missing.error == "org.photod.library.NoSuchAsset" && missing.parameters?.ids?.count == 999)
      #expect(failures() == [])
    }
  }

  @Test func errorsThatRepeatTheRequestFitInAReply() async throws {
    let fixture = try ServerFixture()
    let long = String(repeating: "a", count: 3 << 20)
    try await fixture.serving { path, failures in
      let socket = try RawSocket(path: path)
      for (method, parameters) in [
        ("Fetch", #"{"options":{"collection":"\#(long)"}}"#), ("Explain", #"{"path":"/\#(long)"}"#),
        ("Rescan", #"{"path":"/\#(long)"}"#), ("Fetch", #"{"options":{"predicate":"\#(long)"}}"#),
        ("Fetch", #"{"options":{"sortDescriptors":[{"key":"\#(long)","ascending":true}]}}"#), (long, "{}"),
      ] {
        #expect(try await reply(socket, method, parameters).error != nil, "\(method.prefix(20))")
      }
      #expect(failures() == [])
    }
  }

  /// A check of each part of a path took the library's queue 13 seconds for 80,000 bytes, which was the square of the
  /// length. Eight times the length may take twice eight times as long, and a square would take 64 times.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func theTimeToExplainAPathGrowsWithItsLength() async throws {
    let top = NSTemporaryDirectory() + "photod-explain-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: true)
    defer { do { try FileManager.default.removeItem(atPath: top) } catch { Issue.record(error) } }
    let fixture = try ServerFixture(root: top)
    for name in ["d", ".d", "d.jpg"] {
      let path = Array((top + String(repeating: "/" + name, count: 65_535 / (name.utf8.count + 1))).utf8)
      let short = try await fixture.library.explanationTime(Array(path.prefix(8_192)))
      let long = try await fixture.library.explanationTime(Array(path.prefix(65_535)))
      #expect(long < 16 * short, "\(name): \(short) and \(long) ns of the library's queue")
    }
  }

  /// The same for a path that exists and is not in the catalog. A look at each prefix of it walked the path from its
  /// beginning each time.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds"))
  func theTimeToExplainAPathOfTheDiskGrowsWithItsLength() async throws {
    let top = NSTemporaryDirectory() + "photod-explain-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: true)
    defer { do { try FileManager.default.removeItem(atPath: top) } catch { Issue.record(error) } }
    let count = (65_535 - top.utf8.count) / (Self.chainName.utf8.count + 1)
    let path = Array((top + String(repeating: "/" + Self.chainName, count: count)).utf8)
    let last = try Self.makeChain(of: count, in: top)
    defer { Self.removeChain(of: count, from: last) }
    let fixture = try ServerFixture(root: top)
    let short = try await fixture.library.explanationTime(Array(path.prefix(8_192)))
    let long = try await fixture.library.explanationTime(path)
    #expect(long < 16 * short, "\(short) and \(long) ns of the library's queue")
  }

  private static let chainName = String(repeating: "d", count: 31)

  /// Makes folders of this name, each in the one before.
  ///
  /// - Returns: the descriptor of the last one.
  private static func makeChain(of count: Int, in top: String) throws -> Int32 {
    var folder = open(top, O_RDONLY | O_DIRECTORY)
    for _ in 0..<count {
      try #require(mkdirat(folder, chainName, 0o755) == 0)
      let next = openat(folder, chainName, O_RDONLY | O_DIRECTORY)
      close(folder)
      folder = next
    }
    return folder
  }

  /// Removes these folders from the last one up, because no call takes their paths.
  private static func removeChain(of count: Int, from last: Int32) {
    var folder = last
    for _ in 0..<count {
      let parent = openat(folder, "..", O_RDONLY | O_DIRECTORY)
      #expect(unlinkat(parent, chainName, AT_REMOVEDIR) == 0)
      close(folder)
      folder = parent
    }
    close(folder)
  }

  /// The same if a folder of the library can't be read.
  @Test func theTimeToExplainAPathBesideAnUnreadableFolderGrowsWithItsLength() async throws {
    let fixture = try ServerFixture()
    let path = Array(("/p" + String(repeating: "/d", count: 32_760)).utf8)
    await fixture.library.addUnreadableFolder()
    let short = try await fixture.library.hidingTime(Array(path.prefix(8_192)))
    let long = try await fixture.library.hidingTime(path)
    #expect(long < 16 * short, "\(short) and \(long) ns of the library's queue")
  }
}

extension Library {
  fileprivate func addUnreadableFolder() {
    problems.unreadable.insert(Array("/p/closed".utf8), errorNumber: EACCES, at: 1)
  }

  /// The processor time of the library's queue to find the unreadable folder that hides a path: the shortest of five.
  fileprivate func hidingTime(_ path: [UInt8]) throws -> Int64 {
    try shortestTime { if problems.unreadable.entry(hiding: path) != nil { Issue.record("hidden") } }
  }

  /// The processor time of the library's queue for one explanation, in nanoseconds: the shortest of five.
  fileprivate func explanationTime(_ path: [UInt8]) throws -> Int64 { try shortestTime { _ = try explain(path: path) } }

  private func shortestTime(_ body: () throws -> Void) throws -> Int64 {
    var shortest = Int64.max
    for _ in 0..<5 {
      let start = WorkBudget.threadTime()
      try body()
      shortest = min(shortest, WorkBudget.threadTime() - start)
    }
    return shortest
  }
}
