import ImageRecords
import TestTools
import Testing
import WatchRecords

/// The messages between photod and photod-image. photod takes those of photod-image for hostile.
@Suite struct PictureCodingTests {
  private static let request = PictureRequest(
    name: Array("IMG_1.jpg".utf8), contentType: "image/jpeg", kind: .rendered,
    frame: PictureFrame(width: 256, height: 65_535, covers: true), format: .png, orientation: 8,
    atMilliseconds: 1_500, maximumPixels: .max, maximumBytes: 1)

  private static let replies: [ImageReply] = [
    .begins(contentType: "image/jpeg", width: 1, height: 65_535, byteCount: .max, isDegraded: true),
    .begins(contentType: "image/png", width: 256, height: 192, byteCount: 1, isDegraded: false),
    .bytes([7]), .bytes(Array(repeating: 3, count: ImageReply.maximumBytes)),
    .failed(.unreadable, message: ""), .failed(.outOfMemory, message: "Größe"),
  ]

  private static func bytes(_ reply: ImageReply) -> [UInt8] {
    var bytes: [UInt8] = []
    reply.encode(into: &bytes)
    return bytes
  }

  private static func bytes(_ request: PictureRequest) -> [UInt8] {
    var bytes: [UInt8] = []
    request.encode(into: &bytes)
    return bytes
  }

  @Test func requestsSurviveTheirCoding() throws {
    let plain = PictureRequest(name: [], contentType: "", kind: .embedded, maximumPixels: 0, maximumBytes: 0)
    #expect(plain.frame == nil && plain.format == .automatic && plain.orientation == 0 && plain.atMilliseconds == nil)
    for request in [Self.request, plain] {
      #expect(try PictureRequest(Self.bytes(request)[...]) == request)
    }
  }

  @Test func repliesSurviveTheirCoding() throws {
    for reply in Self.replies {
      #expect(try ImageReply(Self.bytes(reply)[...]) == reply)
    }
  }

  @Test func framesSurviveAnySplit() throws {
    var bytes = ImageStream.greeting
    for reply in Self.replies { ImageStream.append(reply, to: &bytes) }
    var assembler = ImageStream.assembler()
    var random = SeededGenerator(seed: 16)
    var (position, read) = (0, [ImageReply]())
    while position < bytes.count {
      let end = min(bytes.count, position + Int.random(in: 1...100_000, using: &random))
      assembler.append(bytes[position..<end])
      position = end
      while let payload = try assembler.next() { read.append(try ImageReply(payload)) }
    }
    #expect(read == Self.replies)
  }

  @Test func longMessageIsCutBetweenCharacters() throws {
    let message = String(repeating: "ü", count: ImageReply.longestMessage)
    let read = try ImageReply(Self.bytes(.failed(.unsupported, message: message))[...])
    #expect(read == .failed(.unsupported, message: String(repeating: "ü", count: ImageReply.longestMessage / 2)))
  }

  @Test func valuesOutsideOfTheirRangeAreRefused() {
    func refused(_ reply: ImageReply) -> Bool { (try? ImageReply(Self.bytes(reply)[...])) == nil }
    #expect(refused(.begins(contentType: "image/gif", width: 1, height: 1, byteCount: 1, isDegraded: false)))
    #expect(refused(.begins(contentType: "image/png", width: 0, height: 1, byteCount: 1, isDegraded: false)))
    #expect(refused(.begins(contentType: "image/png", width: 1, height: 65_536, byteCount: 1, isDegraded: false)))
    #expect(refused(.begins(contentType: "image/png", width: 1, height: 1, byteCount: 0, isDegraded: false)))
    #expect(refused(.bytes([])))
    #expect(refused(.bytes(Array(repeating: 0, count: ImageReply.maximumBytes + 1))))

    func refused(_ change: (inout PictureRequest) -> Void) -> Bool {
      var request = Self.request
      change(&request)
      return (try? PictureRequest(Self.bytes(request)[...])) == nil
    }
    #expect(refused { $0.orientation = 9 })
    #expect(refused { $0.atMilliseconds = PictureRequest.latestMilliseconds + 1 })
    #expect(refused { $0.frame?.width = 0 })
    #expect(refused { $0.frame?.height = 65_536 })
    #expect(refused { $0.contentType = "image/\n" })
  }

  /// A process that a file has taken over may send anything. It is refused, or it is a reply whose values are in their
  /// ranges.
  @Test func changedBytesAreRefusedOrHarmless() {
    let samples = Self.replies.map(Self.bytes).map { Array($0.prefix(200)) }
    var random = SeededGenerator(seed: 17)
    var (refused, taken) = (0, 0)
    for _ in 0..<50_000 {
      var changed = samples.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: changed.removeLast(Int.random(in: 0...changed.count, using: &random))
        case 1: changed.insert(UInt8.random(in: 0...255, using: &random), at: changed.count / 2)
        default:
          if let place = changed.indices.randomElement(using: &random) {
            changed[place] = [0, 1, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)!
          }
        }
      }
      guard let reply = try? ImageReply(changed[...]) else {
        refused += 1
        continue
      }
      taken += 1
      switch reply {
      case .begins(let contentType, let width, let height, let byteCount, _):
        #expect(["image/jpeg", "image/png"].contains(contentType))
        #expect((1...65_535).contains(width) && (1...65_535).contains(height) && byteCount > 0)
      case .bytes(let bytes): #expect((1...ImageReply.maximumBytes).contains(bytes.count))
      case .failed(_, let message): #expect(message.utf8.count <= ImageReply.longestMessage)
      }
    }
    #expect(refused > 1_000 && taken > 1_000, "\(refused) refused, \(taken) taken")
  }

  @Test func changedRequestsAreRefusedOrHarmless() {
    let whole = Self.bytes(Self.request)
    var random = SeededGenerator(seed: 18)
    for _ in 0..<20_000 {
      var changed = whole
      changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      changed.removeLast(random.once(in: 3) ? Int.random(in: 0..<changed.count, using: &random) : 0)
      guard let request = try? PictureRequest(changed[...]) else { continue }
      #expect(request.orientation <= 8 && request.atMilliseconds ?? 0 <= PictureRequest.latestMilliseconds)
      #expect(request.frame.map { (1...65_535).contains($0.width) && (1...65_535).contains($0.height) } ?? true)
    }
  }
}
