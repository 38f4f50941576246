import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog

@Suite struct PackedIDsTests {
  @Test func everyListOfIDsComesBackSorted() throws {
    var random = SeededGenerator(seed: 7)
    for round in 0..<500 {
      let largest: AssetID = round % 5 == 0 ? .max : round % 2 == 0 ? 300 : 2_000_000
      let ids = Set(
        (0..<Int.random(in: 1...60, using: &random)).map { _ in AssetID.random(in: 1...largest, using: &random) })
      let bytes = try #require(PackedIDs.pack(ids.shuffled(using: &random)))
      #expect(try PackedIDs.unpack(bytes) == ids.sorted())
    }
  }

  @Test func everyListOfFieldsComesBackSorted() throws {
    var random = SeededGenerator(seed: 8)
    for _ in 0..<500 {
      var fields: [AssetID: ChangedFields] = [:]
      for _ in 0..<Int.random(in: 1...60, using: &random) {
        fields[.random(in: 1...100_000, using: &random)] = ChangedFields(rawValue: .random(in: 0...511, using: &random))
      }
      let unpacked = try PackedIDs.unpackFields(try #require(PackedIDs.pack(fields)))
      #expect(unpacked.map(\.0) == fields.keys.sorted())
      #expect(unpacked.allSatisfy { fields[$0.0] == $0.1 })
    }
  }

  @Test func noIDsAreNoBlobAndAnIDTwiceIsOne() throws {
    #expect(PackedIDs.pack([AssetID]()) == nil)
    #expect(PackedIDs.pack([AssetID: ChangedFields]()) == nil)
    #expect(try PackedIDs.unpack([]) == [AssetID]())
    #expect(try PackedIDs.unpack(try #require(PackedIDs.pack([9, 4, 9] as [AssetID]))) == [4, 9] as [AssetID])
  }

  @Test func neighboursTakeOneByteEach() throws {
    #expect(PackedIDs.pack(Array(AssetID(1_000_000)...1_000_999))?.count == 1002)
    #expect(PackedIDs.pack([AssetID.max]) == [255, 255, 255, 255, 255, 255, 255, 255, 127])
  }

  @Test(
    arguments: [
      [0x80],  // It ends inside an integer.
      [0x00],  // No id is 0.
      [0x05, 0x00],  // No id occurs twice.
      [0x81, 0x00],  // This is not the shortest form.
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],  // The value is beyond Int64.
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],  // The value is beyond UInt64.
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x01],  // The sum is beyond Int64.
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    ] as [[UInt8]])
  func garbageThrows(bytes: [UInt8]) {
    #expect(throws: PhotoError.self) { try PackedIDs.unpack(bytes) as [AssetID] }
  }

  @Test(arguments: [[0x05], [0x05, 0x80], [0x05, 0x80, 0x80, 0x04], [0x05, 0x01, 0x00, 0x01]] as [[UInt8]])
  func garbageFieldsThrow(bytes: [UInt8]) {
    #expect(throws: PhotoError.self) { try PackedIDs.unpackFields(bytes) }
  }

  @Test func randomBytesEitherThrowOrAreExactlyWhatPackMakes() throws {
    var random = SeededGenerator(seed: 9)
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 1...12, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      do {
        #expect(PackedIDs.pack(try PackedIDs.unpack(bytes) as [AssetID]) == bytes)
      } catch is PhotoError {}
      do {
        let fields = try PackedIDs.unpackFields(bytes)
        #expect(PackedIDs.pack(Dictionary(uniqueKeysWithValues: fields)) == bytes)
      } catch is PhotoError {}
    }
  }
}
