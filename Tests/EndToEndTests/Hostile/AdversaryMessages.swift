import Foundation

/// Messages that no well-behaved client sends.
enum AdversaryMessages {
  static func call(_ method: String, _ parameters: String, _ flag: String = "") -> [UInt8] {
    NormalClient.message(#"{"method":"\#(method)","parameters":\#(parameters)\#(flag)}"#)
  }

  static func library(_ method: String, _ parameters: String, _ flag: String = "") -> [UInt8] {
    call("org.photod.library." + method, parameters, flag)
  }

  /// A predicate near its bounds for which no index helps. With another `salt` it is another predicate, so that no
  /// reply is shared.
  static func predicate(_ salt: Int) -> String {
    (0..<480).map { "path LIKE '*/*o*/*_*.*p*\(salt)x\($0)*'" }.joined(separator: " OR ")
  }

  static func expensive(_ method: String, _ salt: Int, _ flag: String = "") -> [UInt8] {
    library(method, #"{"options":{"predicate":"\#(predicate(salt))"}}"#, flag)
  }

  /// Each of these gets another error.
  static let refused: [[UInt8]] = [
    library("Fetch", #"{"options":{"collection":"album:no such album"}}"#),
    library("Fetch", #"{"options":{"sortDescriptors":[{"key":"no such key","ascending":true}]}}"#),
    library("Fetch", #"{"options":{"text":"\"open"}}"#), library("Fetch", #"{"options":{"predicate":"id =="}}"#),
    library("PerformChanges", #"{"requests":[{"editAsset":{"ids":[9223372036854775807],"isFavorite":true}}]}"#),
    library("FetchPersistentChanges", #"{"since":"no token"}"#),
    library("FetchPersistentChanges", #"{"since":"another-library.1.1"}"#),
    library("Rescan", #"{"path":"/no/such/folder"}"#),
    library("Observe", "{}"), call("org.photod.manage.Restore", #"{"path":"/etc/passwd"}"#),
    call("org.photod.manage.Backup", #"{"path":"/no/such/folder/backup"}"#), library("NoSuchMethod", "{}"),
    call("org.nothing.Status", "{}"),
  ]

  /// Ids that the multiplicative hash of lists would put next to each other if its factor were not seeded.
  static let collidingIDs: String = {
    var inverse: UInt64 = 1
    for _ in 0..<6 { inverse &*= 2 &- 0x9E37_79B9_7F4A_7C15 &* inverse }
    let ids = (1...400_000).lazy.map { Int64(bitPattern: inverse &* UInt64($0)) }.filter { $0 > 0 }.prefix(100_000)
    return ids.map(String.init).joined(separator: ",")
  }()

  static let largestCall = 16 << 20

  /// Valid calls of nearly the largest size, whose lists are far beyond their bounds.
  static let longLists: [[UInt8]] = [
    library("GetAssets", #"{"ids":[\#(elements("1"))]}"#),
    library("FindAssets", #"{"paths":[\#(elements(#""/x""#))]}"#),
    library("PerformChanges", #"{"requests":[\#(elements(#"{"deleteAlbum":1}"#))]}"#),
    library("PerformChanges", #"{"requests":[{"editAsset":{"ids":[\#(elements("1000001"))],"isFavorite":true}}]}"#),
    library("Fetch", #"{"options":{"sortDescriptors":[\#(elements(#"{"key":"","ascending":true}"#))]}}"#),
    library("Observe", #"{"since":"x","sinceIDs":[\#(elements("1"))]}"#, #","more":true"#),
  ]

  private static func elements(_ element: String) -> String {
    let text = element + ","
    return String(String(repeating: text, count: (largestCall - 300) / text.utf8.count).dropLast())
  }

  /// A path that is longer than any path may be.
  static let longPath = "/" + (0..<40_000).map { "d\($0 % 10)/" }.joined() + "x.jpg"

  static let malformed: [[UInt8]] = [
    Array("{".utf8) + [0], Array(repeating: 0, count: 10_000), [0xFF, 0xFE, 0], Array(#"{"method":1}"#.utf8) + [0],
    Array(#"{"method":""}"#.utf8) + [0], Array(#"{"method":"org.photod.library.Status","more":2}"#.utf8) + [0],
    Array(#"{"method":"org.photod.library.Status","upgrade":true}"#.utf8) + [0],
    Array(repeating: UInt8(ascii: "["), count: 200_000) + [0],
    Array(String(repeating: #"{"a":"#, count: 50_000).utf8) + [0],
    Array(#"{"method":"org.photod.library.Status","method":"org.photod.library.Fetch"}"#.utf8) + [0],
    Array("GET / HTTP/1.1\r\n\r\n".utf8),
  ]
}
