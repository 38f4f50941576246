import Foundation
import PhotoContract
import Testing

@testable import PhotoClient

/// Replies in photod's form are parsed by hand, with the same result as that of the general decoder.
struct FastDecodedTests {
  private let asset = #"""
    {"addedDate":"2024-07-21T10:00:00.5Z","available":true,"camera":{"flashFired":false,"fNumber":2.8,"iso":640},
    "creationDate":"2024-07-21T12:00:00+02:00","creationDateSource":"metadata","id":42,"isFavorite":true,"isHidden":false,"isTrashed":false,
    "keywords":["a \"sea\"","\u00fc"],"location":{"latitude":48.1,"longitude":-11},"mediaSubtypes":[],"mediaType":"image",
    "modificationDate":"2024-07-21T10:00:00Z","pixelHeight":3000,"pixelWidth":4000,"rating":null,"revision":"r1","later":[{}],
    "resources":[{"byteCount":9000000000,"contentType":"image/jpeg","filename":"a.jpg","kind":"photo","path":"/p/a.jpg"}]}
    """#

  @Test func pagesOfAssets() throws {
    try expectSame(AssetPage.self, #"{"assets":[\#(asset),\#(asset)],"offset":0,"token":"t","total":2}"#)
    try expectSame(AssetPage.self, #"{"token":"t","total":0,"offset":0,"assets":[]}"#)
  }

  @Test func pagesOfIDs() throws {
    try expectSame(AssetIDPage.self, #"{"ids":[1,9223372036854775807,3],"offset":40000,"token":"t","total":40003}"#)
  }

  @Test func observations() throws {
    let page = #"{"complete":true,"count":2,"digest":"d","ids":[2,1],"offset":0,"reload":"tooManyChanges","token":"t"}"#
    let details = #"""
      {"changedAfter":[{"count":1,"start":0}],"changedBefore":[],"changedFields":["favorite"],"countAfter":2,"countBefore":1,
      "deletedBefore":[],"insertedAfter":[{"count":1,"start":1}],"insertedIDs":[5],"moves":[{"fromBefore":1,"toAfter":0}],
      "removedBefore":[]}
      """#
    try expectSame(ObserveReply.self, #"{"observation":\#(page)}"#) { $0.observation }
    try expectSame(
      ObserveReply.self,
      #"{"observation":{"count":2,"details":\#(details),"digest":"d","insertedAssets":[\#(asset)],"token":"u"}}"#
    ) { $0.observation }
  }

  @Test func assetsByTheirIDs() throws {
    let reply = #"{"assets":[\#(asset)],"missing":[7],"token":"t"}"#
    try expectSame(GetAssetsReply.self, reply) { $0.assets }
    try expectSame(GetAssetsReply.self, reply) { $0.missing }
  }

  /// The general decoder reports the error.
  @Test func unexpectedRepliesAreLeftToTheGeneralDecoder() {
    for reply in [
      #"{}"#, #"{"ids":[1.5],"offset":0,"token":"t","total":1}"#, #"{"ids":null,"offset":0,"token":"t","total":1}"#,
    ] {
      #expect(fastRead(AssetIDPage.self, reply) == nil)
    }
  }

  private func fastRead<Value: JSONReadable & Decodable & Sendable>(_ type: Value.Type, _ reply: String) -> Value? {
    Array(reply.utf8).withUnsafeBufferPointer { FastDecoded<Value>(json: $0)?.value }
  }

  private func expectSame<Value: JSONReadable & Decodable & Sendable & Equatable>(
    _ type: Value.Type, _ reply: String
  ) throws { try expectSame(type, reply) { $0 } }

  private func expectSame<Value: JSONReadable & Decodable & Sendable, Part: Equatable>(
    _ type: Value.Type, _ reply: String, _ part: (Value) -> Part
  ) throws {
    let mine = try #require(fastRead(type, reply))
    #expect(part(mine) == part(try JSONDecoder().decode(Value.self, from: Data(reply.utf8))))
  }
}
