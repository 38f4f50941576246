import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing

/// Tests SQLite's log while a client reads a long list slowly.
@Suite(.timeLimit(.minutes(10))) struct SlowReaderLogTests {
  /// The catalog's `journal_size_limit`.
  private static let limit = 32 << 20

  private struct Parameters: Encodable { let count: Int }

  private struct Page: Decodable {
    struct ID: Decodable { let id: AssetID }
    let total: Int
    let assets: [ID]
  }

  private func logSize(_ fixture: DaemonFixture) throws -> Int {
    var status = stat()
    guard stat(fixture.catalog + "-wal", &status) == 0 else { throw SystemCallError("stat") }
    return Int(status.st_size)
  }

  /// A snapshot keeps everything in the log that is written after it. When the reader has gone, the file is truncated.
  @Test func logIsCutAfterASlowReaderDisconnects() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<2_500 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let ids = try await fixture.ids().ids
      var isFavorite = false
      // Each commit changes photos from all over the catalog, so it writes most of its pages.
      func write() async throws {
        isFavorite.toggle()
        for first in 0..<10 {
          let some = stride(from: first, to: ids.count, by: 25).map { ids[$0] }
          try await fixture.setFavorite(some, isFavorite)
        }
      }
      func read() throws -> RawStream { try RawStream(fixture, "org.photod.library.Fetch", Parameters(count: 100)) }
      var reader: RawStream? = try read()
      var readCount = 0
      while try logSize(fixture) <= Self.limit + Self.limit / 8 {
        // The reader continues, so that photod does not end its stream after ten seconds. On a busy machine photod does
        // so nevertheless, and sends an error instead of a page.
        do {
          let page = try #require(try reader?.next(Page.self))
          readCount += page.assets.count
          try #require(readCount < page.total, "the list was read before the log was long")
        } catch is DecodingError {
          (reader, readCount) = (try read(), 0)
        }
        try await write()
      }
      reader = nil
      try await eventually("the log has at most \(Self.limit) bytes", within: .seconds(60)) {
        try await write()
        return try logSize(fixture) <= Self.limit
      }
    }
  }
}
