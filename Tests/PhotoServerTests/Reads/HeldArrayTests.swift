import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog
@testable import PhotoIndexer
@testable import PhotoLive
@testable import PhotoServer

/// Replies that hold a whole array until their client has read it.
@Suite(.timeLimit(.minutes(10))) struct HeldArrayTests {
  /// Adds folders whose collections do not fit in the buffers of a connection.
  private func addFolders(_ fixture: ServerFixture, _ count: Int = 800) throws {
    let name = [UInt8](repeating: UInt8(ascii: "f"), count: 2_000)
    try fixture.commit { writer in
      for number in 0..<count {
        let made = try writer.insertDirectory(
          parentID: fixture.directoryID, rootID: nil, name: Array("\(number)".utf8) + name, volumeID: 1, inode: 2,
          birthTime: 1)
        let row = FileRow(
          assetID: 0, directoryID: made, name: Array("a.jpg".utf8), byteCount: 1, modificationTime: 1,
          changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
        let content = AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg")
        try writer.insertAsset(content, file: row, addedDate: .init(microseconds: 1))
      }
    }
  }

  /// Adds files that can't be read, each with a long reason.
  private func addUnreadable(_ fixture: ServerFixture, _ count: Int = 800) throws {
    let reason = String(repeating: "r", count: 4_000)
    try fixture.commit { writer in
      for number in 0..<count {
        let row = FileRow(
          assetID: 0, directoryID: fixture.directoryID, name: Array("\(number).jpg".utf8), byteCount: 1,
          modificationTime: 1, changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
        let content = AssetContent(
          mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", failure: reason)
        try writer.insertAsset(content, file: row, addedDate: .init(microseconds: 1))
      }
    }
  }

  /// One of the methods whose replies hold an array.
  struct Method: Sendable, CustomTestStringConvertible {
    let name: String
    let interface: String
    let error: String
    /// Whether the call goes on after its last page.
    let isObservation: Bool

    var testDescription: String { name }

    func call(_ socket: RawSocket) throws {
      try socket.send(#"{"method":"\#(interface).\#(name)","parameters":{},"more":true}"#)
    }

    func isLastPage(_ reply: Data) -> Bool {
      isObservation ? reply.contains(#""complete":true"#) : !reply.contains(#""continues":true"#)
    }
  }

  static let methods = [
    Method(
      name: "FetchCollections", interface: "org.photod.library", error: "org.photod.library.SnapshotExpired",
      isObservation: false),
    Method(
      name: "ObserveCollections", interface: "org.photod.library", error: "org.photod.library.SnapshotExpired",
      isObservation: true),
    Method(
      name: "ListUnreadable", interface: "org.photod.manage", error: "org.photod.manage.Unavailable",
      isObservation: false),
  ]

  /// Clients that do not read hold their arrays. The newest calls beyond the bound end.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds"), arguments: methods)
  func anArrayBeyondTheBoundOfAllListsEndsItsCall(method: Method) async throws {
    let fixture = try ServerFixture()
    if method.name == "ListUnreadable" { try addUnreadable(fixture) } else { try addFolders(fixture) }
    let held = fixture.live.lists.held
    // Ten lists of the greatest length fit anyway.
    held.setMaximumBytes(1)
    let fitting = 10
    try await fixture.serving { path, failures in
      var sockets: [RawSocket] = []
      for number in 0..<fitting + 3 {
        let socket = try RawSocket(path: path)
        try method.call(socket)
        var reply = try await socket.receive()
        if number < fitting { try #require(!method.isLastPage(reply) && !reply.contains(method.error)) }
        while number >= fitting, !reply.contains(method.error) {
          try #require(!method.isLastPage(reply), "all of it was sent")
          reply = try await socket.receive()
        }
        #expect(reply.contains("and this process has the most of them") == (number >= fitting))
        sockets.append(socket)
      }
      #expect(held.byteCount > 0)
      // The others are read to their end.
      for socket in sockets.prefix(fitting) {
        var size = 0
        var reply = Data()
        repeat {
          reply = try await socket.receive()
          size += reply.count
          try #require(!reply.contains(method.error))
        } while !method.isLastPage(reply)
        #expect(size > 2 << 20, "it did not fit in the buffers of the connection")
      }
      #expect(failures() == [])
    }
    #expect(held.byteCount == 0)
  }

  /// Its client may read the last page at any time.
  @Test func theLastPageHoldsNoArray() async throws {
    let fixture = try ServerFixture()
    try addFolders(fixture, 600)
    let held = fixture.live.lists.held
    try await fixture.serving { path, failures in
      let socket = try RawSocket(path: path)
      try socket.send(#"{"method":"org.photod.library.FetchCollections","parameters":{},"more":true}"#)
      var last = Data()
      repeat { last = try await socket.receive() } while last.contains(#""continues":true"#)
      try await eventually("nothing is held") { held.byteCount == 0 }
      #expect(failures() == [])
    }
  }
}

extension Data {
  fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
