import PhotoContract
import PhotoImages
import PhotoModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The results of the engine as clients get them.

extension PictureResult {
  /// The result as the interface has it.
  var wire: ImageResult { wire(id: requestID) { _ in nil } }

  /// - Parameters:
  ///   - id: the id by which the client knows the request.
  ///   - stored: the bytes of a picture that is too large for the result; nil to send its name.
  func wire(id: Int64, stored: (String) -> [UInt8]?) -> ImageResult {
    switch outcome {
    case .picture(let picture):
      ImageResult(requestID: id, isFinal: isFinal, image: picture.description(stored: stored))
    case .failure(let kind, let message):
      ImageResult(requestID: id, isFinal: isFinal, failure: ImageFailure(kind: .init(kind), message: message))
    }
  }
}

extension Picture {
  fileprivate func description(stored: (String) -> [UInt8]?) -> ImageDescription {
    var description = ImageDescription(
      contentType: contentType, width: width, height: height, byteCount: byteCount, isDegraded: isDegraded,
      revision: revision)
    switch content {
    case .file(let path): description.path = path
    case .data(let bytes): description.data = bytes.base64
    case .stored(let imageID):
      if let bytes = stored(imageID) {
        description.data = bytes.base64
      } else {
        description.imageID = imageID
      }
    }
    return description
  }
}

extension ImageFailure.Kind {
  init(_ kind: PictureFailureKind) {
    self =
      switch kind {
      case .noSuchAsset: .noSuchAsset
      case .unavailable: .unavailable
      case .unreadable: .unreadable
      case .unsupported: .unsupported
      case .tooLarge: .tooLarge
      case .storageFull: .storageFull
      }
  }
}

extension Array where Element == PictureResult {
  /// The results in replies of at most ``ReplyLimits/maximumBytes``, unless a single result is larger.
  func pages(_ wire: (PictureResult) -> ImageResult) -> [[ImageResult]] {
    var pages: [[ImageResult]] = []
    var room = 0
    for result in map(wire) {
      let byteCount = result.byteCount
      if byteCount > room || pages.isEmpty {
        pages.append([])
        room = ReplyLimits.maximumBytes - 512
      }
      pages[pages.count - 1].append(result)
      room -= byteCount
    }
    return pages
  }
}

extension ImageResult {
  /// At least the bytes that it takes in a reply. A character of a path or a message takes up to six.
  fileprivate var byteCount: Int {
    400 + (image?.data?.utf8.count ?? 0) + 6 * ((image?.path ?? "").utf8.count + (failure?.message ?? "").utf8.count)
  }
}

extension [UInt8] {
  /// Base64 with padding (RFC 4648, section 4).
  var base64: String { Data(self).base64EncodedString() }
}
