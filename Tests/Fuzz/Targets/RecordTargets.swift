import ExtractRecords
import ImageRecords
import PhotoModel
import WatchRecords

// The messages between photod and its helper programs. A helper may have been taken over by a file that it read.

extension FuzzTarget {
  /// The records and orders of photod-watch. The first byte selects the direction, and how the bytes are cut.
  static let watchRecords = FuzzTarget(
    name: "watch-records",
    seeds: [
      stream([
        .directoryFound(
          number: 1, parent: 0, root: 0, name: Array("/photos".utf8),
          identity: FileIdentity(device: 1, inode: 2, birthTime: FileTime(nanoseconds: 3))),
        .listingStarted(number: 1, evidence: .scan),
        .fileFound(directory: 1, name: Array("a.jpg".utf8), stat: stat, event: .none),
        .directoryGone(number: 1, evidence: .event),
      ])
    ].map { [0] + $0 },
    run: { input in
      guard let kind = input.first else { return }
      let bytes = Array(input.dropFirst())
      let frames = frames(of: bytes, cutAt: Int(kind >> 1), by: FrameAssembler())
      for frame in frames {
        if kind & 1 == 0 {
          guard let records = try? WatchStream.records(in: frame) else { continue }
          var again: [UInt8] = []
          for record in records { record.encode(into: &again) }
          require((try? WatchStream.records(in: again[...])) == records, "the records \(records)")
        } else {
          guard let orders = try? WatchStream.orders(in: frame) else { continue }
          var again: [UInt8] = []
          for order in orders { order.encode(into: &again) }
          require((try? WatchStream.orders(in: again[...])) == orders, "the orders \(orders)")
        }
      }
    })

  /// The calls about files of a share, and the answers.
  static let fileRecords = FuzzTarget(
    name: "file-records",
    seeds: [
      coded(0) { FileCall.read(path: Array("/share/a.jpg".utf8), offset: 9, count: 10).encode(into: &$0) },
      coded(0) { FileCall.list(path: Array("/share".utf8), position: 3).encode(into: &$0) },
      coded(1) { FileAnswer(errorNumber: 0, mode: 0o100644, stat: stat, bytes: [1, 2, 3]).encode(into: &$0) },
      coded(2) { FolderEntry(name: Array("a.jpg".utf8), type: 8).encode(into: &$0) },
    ],
    run: { input in
      guard let kind = input.first else { return }
      let payload = Array(input.dropFirst())[...]
      switch kind {
      case 0:
        guard let call = try? FileCall(payload) else { return }
        var again: [UInt8] = []
        call.encode(into: &again)
        require((try? FileCall(again[...])) == call, "the call \(call)")
      case 1:
        guard let answer = try? FileAnswer(payload) else { return }
        var again: [UInt8] = []
        answer.encode(into: &again)
        require((try? FileAnswer(again[...])) == answer, "the answer \(answer)")
      case 2:
        guard let entries = try? FolderEntry.all(in: Array(payload)) else { return }
        var again: [UInt8] = []
        for entry in entries { entry.encode(into: &again) }
        require((try? FolderEntry.all(in: again)) == entries, "the entries \(entries)")
      default: _ = MountTable(payload)
      }
    })

  /// The requests and answers of photod-extract.
  static let extractRecords = FuzzTarget(
    name: "extract-records",
    seeds: [
      [0] + ExtractStream.greeting + framed { ExtractStream.append(.facts(facts), to: &$0) },
      [0] + ExtractStream.greeting + framed { ExtractStream.append(.needs(offset: 65_536, count: 12_288), to: &$0) },
      [1] + ExtractStream.greeting
        + framed { ExtractStream.append(.file(name: Array("a.jpg".utf8), byteCount: 7, isFetched: true), to: &$0) }
        + framed { ExtractStream.append(.bytes([1, 2, 3], errorNumber: 0), to: &$0) },
    ],
    run: { input in
      guard let kind = input.first else { return }
      for frame in frames(of: Array(input.dropFirst()), cutAt: Int(kind >> 1), by: ExtractStream.assembler()) {
        var again: [UInt8] = []
        if kind & 1 == 0 {
          guard let reply = try? ExtractReply(frame) else { continue }
          reply.encode(into: &again)
          require((try? ExtractReply(again[...])) == reply, "the reply \(reply)")
          if case .facts(let facts) = reply { check(facts) }
        } else {
          guard let request = try? ExtractRequest(frame) else { continue }
          request.encode(into: &again)
          require((try? ExtractRequest(again[...])) == request, "the request \(request)")
        }
      }
    })

  /// The requests and replies of the decoders. photod reads the replies.
  static let imageRecords = FuzzTarget(
    name: "image-records",
    seeds: [
      [0] + ImageStream.greeting
        + framed {
          ImageStream.append(
            ImageReply.begins(contentType: "image/jpeg", width: 4, height: 3, byteCount: 3, isDegraded: true), to: &$0)
        } + framed { ImageStream.append(ImageReply.bytes([1, 2, 3]), to: &$0) },
      [0] + ImageStream.greeting
        + framed { ImageStream.append(ImageReply.failed(.unreadable, message: "it is cut off"), to: &$0) },
      [1] + ImageStream.greeting
        + framed {
          let request = PictureRequest(
            name: Array("a.jpg".utf8), contentType: "image/jpeg", kind: .embedded,
            frame: PictureFrame(width: 256, height: 256), orientation: 6, atMilliseconds: 5, maximumPixels: 300_000_000,
            maximumBytes: 1 << 20)
          ImageStream.append(request, to: &$0)
        },
    ],
    run: { input in
      guard let kind = input.first else { return }
      for frame in frames(of: Array(input.dropFirst()), cutAt: Int(kind >> 1), by: ImageStream.assembler()) {
        var again: [UInt8] = []
        if kind & 1 == 0 {
          guard let reply = try? ImageReply(frame) else { continue }
          reply.encode(into: &again)
          require((try? ImageReply(again[...])) == reply, "the reply \(reply)")
        } else {
          guard let request = try? PictureRequest(frame) else { continue }
          request.encode(into: &again)
          require((try? PictureRequest(again[...])) == request, "the request \(request)")
        }
      }
    })

  /// The bounds that the catalog and the clients rely on, whoever sent the facts.
  private static func check(_ facts: MediaFacts) {
    require(facts.pixelWidth.map { $0 > 0 } ?? true && facts.pixelHeight.map { $0 > 0 } ?? true, "a size")
    require(facts.orientation.map((1...8).contains) ?? true, "an orientation")
    require(facts.rating.map((0...5).contains) ?? true, "a rating")
    require(facts.location.map { abs($0.latitude) <= 90 && abs($0.longitude) <= 180 } ?? true, "a location")
    require(facts.durationSeconds.map { $0.isFinite && $0 >= 0 } ?? true, "a duration")
    require(facts.keywords.count <= MediaFacts.mostKeywords, "too many keywords")
  }

  /// The frames of a connection. They are the same, however its bytes are cut into pieces.
  private static func frames(of bytes: [UInt8], cutAt size: Int, by empty: FrameAssembler) -> [[UInt8].SubSequence] {
    func assemble(_ pieces: [ArraySlice<UInt8>]) -> (frames: [ArraySlice<UInt8>], fails: Bool) {
      var (assembler, frames) = (empty, [ArraySlice<UInt8>]())
      for piece in pieces {
        assembler.append(piece)
        do {
          while let frame = try assembler.next() { frames.append(frame) }
        } catch {
          return (frames, true)
        }
      }
      return (frames, false)
    }
    let whole = assemble([bytes[...]])
    if size > 0 {
      let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
      let cut = assemble(pieces)
      require(
        cut.fails == whole.fails && cut.frames.elementsEqual(whole.frames, by: { $0.elementsEqual($1) }),
        "pieces of \(size) bytes give other frames")
    }
    return whole.frames
  }

  // MARK: Seeds

  private static let stat = FileStat(
    identity: FileIdentity(device: 1, inode: 3, birthTime: FileTime(nanoseconds: 5)), byteCount: 7,
    modificationTime: FileTime(nanoseconds: 11), changeTime: FileTime(nanoseconds: 13))

  private static let facts: MediaFacts = {
    var facts = MediaFacts(mediaType: .image, contentType: "image/jpeg")
    facts.creationDate = PhotoDate(microseconds: 1_721_548_800_000_000, offsetMinutes: 120)
    (facts.pixelWidth, facts.pixelHeight, facts.orientation) = (4032, 3024, 6)
    (facts.durationSeconds, facts.rating) = (1.5, 4)
    facts.location = Location(latitude: 47.4, longitude: 8.5, altitude: 400)
    facts.camera = Camera(make: "Apple", model: "iPhone", lens: "wide", exposureSeconds: 0.01, fNumber: 2, iso: 100)
    (facts.title, facts.caption, facts.keywords) = ("a", "b", ["c", "d"])
    (facts.burstIdentifier, facts.failure, facts.readError) = ("e", "f", 5)
    return facts
  }()

  private static func stream(_ records: [WatchRecord]) -> [UInt8] { WatchStream.greeting + WatchStream.frame(records) }

  private static func coded(_ kind: UInt8, _ encode: (inout [UInt8]) -> Void) -> [UInt8] {
    var bytes = [kind]
    encode(&bytes)
    return bytes
  }

  private static func framed(_ append: (inout [UInt8]) -> Void) -> [UInt8] {
    var bytes: [UInt8] = []
    append(&bytes)
    return bytes
  }
}
