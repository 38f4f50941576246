import NIOCore
import PhotoModel
import PredicateLanguage

@testable import Varlink

// Clients send predicates, words to search for, and the messages themselves.

extension FuzzTarget {
  static let predicate = FuzzTarget(
    name: "predicate",
    seeds: [
      "", "mediaType == 'image' AND keywords CONTAINS[cd] 'beach'", "caption MATCHES[c] '(a|b)*c{2,3}[^d-f]+\\\\w?'",
      "NOT (rating >= 3 OR isFavorite == TRUE) AND creationDate BETWEEN {'2024-01-01', '2024-12-31T23:59:59+02:00'}",
      "title LIKE '*a?b*' OR camera.make IN {'Apple', 'Canon'} OR pixelWidth > 4e3",
      "DISTANCE(location, 47.37, 8.54) < 10", "ANY keywords BEGINSWITH 'x' && title != NULL",
    ].map { Array($0.utf8) },
    run: { input in
      let text = String(decoding: input, as: UTF8.self)
      do throws(PredicateError) {
        let predicate = try Predicate(parsing: text)
        let canonical = predicate.description
        require(canonical.utf8.allSatisfy { $0 >= 32 && $0 < 127 }, canonical)
        do throws(PredicateError) {
          let again = try Predicate(parsing: canonical)
          require(again.description == canonical, "\(canonical) becomes \(again.description)")
          require(again.matches(asset) == predicate.matches(asset), "\(canonical) matches otherwise")
        } catch {
          // Escapes make a text longer.
          require(canonical.utf8.count > Predicate.maximumBytes, "\(canonical) is refused: \(error)")
        }
      } catch {
        require((0...text.unicodeScalars.count).contains(error.position), "\(error)")
        require(!error.message.isEmpty && error.message.count < 200, "\(error)")
      }
    })

  static let words = FuzzTarget(
    name: "words", seeds: ["beach \"birthday party\"* 2024", "x-t5 „Grüße“ 東京"].map { Array($0.utf8) },
    run: { input in
      let text = String(decoding: input, as: UTF8.self)
      do throws(TextQueryError) {
        let query = try TextQuery(text)
        require(!query.parts.isEmpty && TextQuery(parts: query.parts) == query, text)
      } catch {
        require((0...text.unicodeScalars.count).contains(error.position), "\(error)")
      }
    })

  /// The first byte says how the bytes are cut.
  static let varlink = FuzzTarget(
    name: "varlink",
    seeds: [
      #"{"method":"org.example.test.Echo","parameters":{"text":"é🙂\n","note":null}}"#,
      #"{"method":"org.varlink.service.GetInfo","more":true,"oneway":false,"upgrade":null}"#,
      #"{"parameters":{"items":[{"name":"\ud83d\ude42","size":-1.5e3}]},"continues":true}"#,
      #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"a"}}"#,
    ].map { [3] + Array($0.utf8) + [0] },
    run: { input in
      guard let size = input.first else { return }
      let bytes = Array(input.dropFirst())
      let whole = frames([bytes[...]])
      if size > 0 {
        let pieces = stride(from: 0, to: bytes.count, by: Int(size)).map {
          bytes[$0..<min($0 + Int(size), bytes.count)]
        }
        require(frames(pieces) == whole, "pieces of \(size) bytes give other messages")
      }
      for case .message(let message) in whole {
        if case .success(let call) = CallEnvelope.reading(message) {
          require(call.parameters.map { $0.upperBound <= message.readableBytes } ?? true, "parameters beyond the end")
        }
        if let reply = try? ReplyEnvelope(message) { _ = reply.parameterBytes }
      }
    })

  private static let maximumMessageBytes = 4096

  private static func frames(_ pieces: [ArraySlice<UInt8>]) -> [MessageFramer.Frame] {
    var framer = MessageFramer(maximumMessageBytes: maximumMessageBytes)
    var frames: [MessageFramer.Frame] = []
    for piece in pieces {
      framer.push(ByteBuffer(bytes: piece))
      while let frame = framer.next() { frames.append(frame) }
    }
    return frames
  }

  private static let asset = Asset(
    id: AssetID(rawValue: 1), mediaType: .image, mediaSubtypes: ["raw"],
    creationDate: PhotoDate(microseconds: 1_721_548_800_000_000, offsetMinutes: 120), creationDateSource: .metadata,
    modificationDate: PhotoDate(microseconds: 0), addedDate: PhotoDate(microseconds: 0), pixelWidth: 4032,
    location: Location(latitude: 47.4, longitude: 8.5), camera: Camera(make: "Apple"),
    title: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", caption: "Grüße vom Strand", keywords: ["beach", "Zürich"])
}
