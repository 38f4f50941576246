import Dispatch
import ImageRecords
import Synchronization

@testable import PhotoImages

/// A decoder that decodes nothing: a file's name says how large its picture is.
final class FakeMaker: PictureMaker {
  struct State {
    var isHeld = false
    var isEmbeddedHeld = false
    /// The files whose pictures are held, by name.
    var heldNames: Set<String> = []
    var waiting: [DispatchSemaphore] = []
    /// The requests in the order in which they began.
    var begun: [PictureRequest] = []
    var ended = 0
    /// The sizes of the pictures, by name. Others have 3000 × 2000 pixels.
    var sizes: [String: ImageFrame] = [:]
    /// The bytes of each picture.
    var byteCount = 1000
    /// Files with an embedded picture.
    var embedded: Set<String> = []
    var failures: [String: PictureMaking] = [:]
    /// The failures of all files that are sent with a media type.
    var failuresOfTypes: [String: PictureMaking] = [:]
    /// Files whose preview of 160 × 107 pixels is all that can be rendered.
    var previewOnly: Set<String> = []
    /// The failures of embedded pictures, by name.
    var embeddedFailures: [String: PictureMaking] = [:]
    /// Whether immediate pictures are expected.
    var isReady = false
    /// It is called when a picture has been made, before the maker returns it.
    var onMade: (@Sendable (String) -> Void)?
  }

  let state = Mutex(State())

  /// The pictures that were decoded, without embedded ones.
  var rendered: [PictureRequest] { state.withLock { $0.begun.filter { $0.kind == .rendered } } }
  var renderedNames: [String] { rendered.map { String(decoding: $0.name, as: UTF8.self) } }
  var embeddedCount: Int { state.withLock { $0.begun.count { $0.kind == .embedded } } }

  /// Lets no picture be finished until ``release()``. Embedded ones are made all the same.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Lets no embedded picture be finished until ``release()``.
  func holdEmbedded() { state.withLock { $0.isEmbeddedHeld = true } }

  /// Lets no picture of these files be finished until ``release()``.
  func hold(_ names: Set<String>) { state.withLock { $0.heldNames = names } }

  func release() {
    let waiting = state.withLock { state in
      state.isHeld = false
      state.isEmbeddedHeld = false
      state.heldNames = []
      defer { state.waiting = [] }
      return state.waiting
    }
    for semaphore in waiting { semaphore.signal() }
  }

  func make(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking {
    let name = String(decoding: request.name, as: UTF8.self)
    let gate = state.withLock { state -> DispatchSemaphore? in
      state.begun.append(request)
      let isHeld =
        request.kind == .rendered ? state.isHeld || state.heldNames.contains(name) : state.isEmbeddedHeld
      guard isHeld else { return nil }
      let semaphore = DispatchSemaphore(value: 0)
      state.waiting.append(semaphore)
      return semaphore
    }
    gate?.wait()
    let (making, onMade) = state.withLock { state -> (PictureMaking, (@Sendable (String) -> Void)?) in
      state.ended += 1
      return (Self.making(request, name, state), state.onMade)
    }
    onMade?(name)
    return making
  }

  func keepReady(_ isReady: Bool) { state.withLock { $0.isReady = isReady } }

  func shutDown() { release() }

  private static func making(_ request: PictureRequest, _ name: String, _ state: State) -> PictureMaking {
    if let failure = state.failures[name] ?? state.failuresOfTypes[request.contentType] { return failure }
    let full = scaled(state.sizes[name] ?? ImageFrame(width: 3000, height: 2000), to: request.frame)
    var size = full
    if request.kind == .embedded {
      if let failure = state.embeddedFailures[name] { return failure }
      guard state.embedded.contains(name) else { return .failed(.noEmbeddedPicture, message: "none") }
    }
    if request.kind == .embedded || state.previewOnly.contains(name) {
      size = scaled(ImageFrame(width: 160, height: 107), to: request.frame)
    }
    let bytes = request.format == .png ? FakePNG.bytes(size) : FakeJPEG.bytes(size, count: state.byteCount)
    return .picture(
      ReceivedPicture(bytes: bytes, header: PictureHeader(bytes[...])!, isDegraded: size.width + 1 < full.width))
  }

  private static func scaled(_ size: ImageFrame, to frame: PictureFrame?) -> ImageFrame {
    guard let frame else { return size }
    let scales = (Double(frame.width) / Double(size.width), Double(frame.height) / Double(size.height))
    let scale = min(1, frame.covers ? max(scales.0, scales.1) : min(scales.0, scales.1))
    return ImageFrame(
      width: max(1, Int((Double(size.width) * scale).rounded())),
      height: max(1, Int((Double(size.height) * scale).rounded())))
  }
}

/// The header and the end of a JPEG, with nothing in between.
enum FakeJPEG {
  static func bytes(_ size: ImageFrame, count: Int) -> [UInt8] {
    var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8]
    for side in [size.height, size.width] { bytes += [UInt8(side >> 8), UInt8(side & 0xFF)] }
    bytes += [1, 1, 0x11, 0]
    bytes += [UInt8](repeating: 0, count: max(0, count - bytes.count - 2))
    return bytes + [0xFF, 0xD9]
  }
}

/// The chunks of a PNG, without pixels.
enum FakePNG {
  static func bytes(_ size: ImageFrame, texts: [(String, String)] = []) -> [UInt8] {
    let sides = [size.width, size.height].flatMap { side -> [UInt8] in [0, 0, UInt8(side >> 8), UInt8(side & 0xFF)] }
    var bytes = PNGChunks.signature + PNGChunks.chunk("IHDR", sides + [8, 2, 0, 0, 0])
    for (keyword, text) in texts { bytes += PNGChunks.chunk("tEXt", Array("\(keyword)\0\(text)".utf8)) }
    return bytes + PNGChunks.chunk("IDAT", [1, 2, 3]) + PNGChunks.chunk("IEND", [])
  }
}
