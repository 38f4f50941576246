/// The `file://` URI of a photo, under which programs look up its shared thumbnails.
///
/// All programs must escape a path in the same way, because the name of a thumbnail is a digest of the URI. This is the way
/// of GLib's `g_filename_to_uri`. Foundation escapes other characters.
struct ThumbnailURI: Hashable, Sendable {
  let text: String

  /// The bytes of a path that are not escaped.
  private static let plain: [Bool] = {
    var plain = [Bool](repeating: false, count: 256)
    for byte in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!$&'()*+,-./:=@_~".utf8 {
      plain[Int(byte)] = true
    }
    return plain
  }()
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// - Parameter path: an absolute path. Its bytes need not be UTF-8.
  init(path: [UInt8]) {
    var bytes = Array("file://".utf8)
    for byte in path {
      if Self.plain[Int(byte)] {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
      }
    }
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// The name of the thumbnail's file in each folder.
  var fileName: String { MD5.hexadecimal(Array(text.utf8)) + ".png" }
}
