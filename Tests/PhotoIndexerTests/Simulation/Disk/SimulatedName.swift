import PhotoModel
import WatchRecords

/// Names on the simulated disk are strings. A byte that is not valid text (128 to 255) is one of the scalars U+F780 to
/// U+F7FF. All other scalars are ASCII.
enum SimulatedName {
  static func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

  static func text(_ bytes: some Sequence<UInt8>) -> String {
    var text = String.UnicodeScalarView()
    for byte in bytes { text.append(byte < 0x80 ? Unicode.Scalar(byte) : Unicode.Scalar(0xF700 + UInt16(byte))!) }
    return String(text)
  }

  /// The text as a Swift literal.
  static func literal(_ text: String) -> String {
    text.unicodeScalars.map { $0.isASCII ? String($0) : "\\u{\(String($0.value, radix: 16))}" }.joined()
  }
}

extension Asset {
  /// The path of its first file on the simulated disk.
  var simulatedPath: String { SimulatedName.text(FilePath.bytes(resources[0].path)) }
}

extension NameRules {
  /// Whether a pattern of the configuration ignores a name in a folder of the simulated disk.
  func ignores(_ name: String, isDirectory: Bool, in folder: String) -> Bool {
    guard let root = ["/pics", "/usb", "/inbox"].first(where: { folder == $0 || folder.hasPrefix($0 + "/") }) else {
      return false
    }
    let below = SimulatedName.bytes(String(folder.dropFirst(root.count))).split(separator: UInt8(ascii: "/"))
    let place = Folder(root: SimulatedName.bytes(root), components: below)
    return pattern(ignoring: SimulatedName.bytes(name), isDirectory: isDirectory, in: place) != nil
  }
}
