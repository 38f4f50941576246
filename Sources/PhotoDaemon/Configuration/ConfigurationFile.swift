import Logging
import TOMLKit

/// The content of `config.toml`, without defaults and options.
///
/// An unknown key or a wrong type is an error that names the key and a correct form. Otherwise a misspelt key would
/// silently mean the default.
package struct ConfigurationFile: Hashable, Sendable {
  package var roots: [String]?
  /// Patterns of files and folders to ignore. ``Configuration`` checks them.
  package var ignore: [String]?
  /// Between 0 and ``maximumGraceSeconds``.
  package var removalGraceSeconds: Double?
  /// By folder, each between ``minimumPollSeconds`` and ``maximumPollSeconds``.
  package var pollSeconds: [String: UInt32]?
  package var logLevel: Logger.Level?
  package var catalog: String?
  /// In bytes, between ``ByteSize/minimumCache`` and ``ByteSize/maximumCache``.
  package var imageCacheSize: Int64?
  /// Whether photod writes thumbnails for other programs.
  package var sharesThumbnails: Bool?
  package var socket: String?

  /// A month. People would not remember a longer delay.
  package static let maximumGraceSeconds = 2_592_000.0
  /// The same number for messages.
  package static let maximumGraceText = "2,592,000"
  package static let imageCacheKey = "image-cache-size"
  package static let shareKey = "share-thumbnails"
  package static let pollKey = "poll-interval-seconds"
  /// photod polls no folder more often.
  package static let minimumPollSeconds = 2
  /// A day. Without polling, changes on a share would never be seen.
  package static let maximumPollSeconds = 86_400
  /// The same number for messages.
  package static let maximumPollText = "86,400"
  /// A configuration has a few lines, so a larger file is some other file.
  package static let maximumBytes = 1 << 20

  package static let knownKeys = [
    "catalog", "ignore", imageCacheKey, "log-level", pollKey, "removal-grace-seconds", "roots", shareKey, "socket",
  ]

  package init() {}

  /// - Parameters:
  ///   - text: TOML 1.0.
  ///   - path: The path of the file, for messages.
  /// - Throws: The first mistake, with its line if that is known.
  package init(parsing text: String, path: String) throws(StartError) {
    guard !text.utf8.contains(0) else {
      throw StartError(
        .configuration, "\(path): it contains a NUL byte, so it is not TOML", remedy: "Write it as plain text in UTF-8."
      )
    }
    let source = Source(path: path, text: text)
    let table: TOMLTable
    do {
      table = try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      throw StartError(
        .configuration, "\(path):\(error.source.begin.line): \(Self.mistake(error, in: text))",
        remedy: "Correct the line, or move the file away to start with the defaults.")
    } catch {
      throw StartError(.configuration, "\(path): \(error)", remedy: "Correct the file, or move it away.")
    }
    if let unknown = table.keys.filter({ !Self.knownKeys.contains($0) }).min(by: source.comesFirst) {
      let similar = Self.key(like: unknown).map { "Did you mean `\($0)`? " } ?? ""
      throw StartError(
        .configuration, "\(source.place(of: unknown)): unknown key \"\(unknown)\"",
        remedy: "\(similar)The keys are \(Self.knownKeys.joined(separator: ", ")).")
    }
    roots = try Self.folders(table["roots"], "roots", source)
    ignore = try Self.list(
      table["ignore"], "ignore", of: "patterns", example: "ignore = [\"Exports\", \"*.gif\"]", source)
    removalGraceSeconds = try Self.seconds(table["removal-grace-seconds"], "removal-grace-seconds", source)
    pollSeconds = try Self.intervals(table[Self.pollKey], source)
    catalog = try Self.string(table["catalog"], "catalog", "\"~/.local/share/photod/catalog.sqlite\"", source)
    socket = try Self.string(table["socket"], "socket", "\"/run/user/1000/photod/photod.sock\"", source)
    sharesThumbnails = try Self.boolean(table[Self.shareKey], Self.shareKey, source)
    imageCacheSize = try Self.cacheSize(table[Self.imageCacheKey], source)
    if let name = try Self.string(table["log-level"], "log-level", "\"info\"", source) {
      guard let level = Logger.Level(rawValue: name) else {
        throw StartError(
          .configuration, "\(source.place(of: "log-level")): log-level is \"\(name)\", which is no level",
          remedy: "The levels are \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      logLevel = level
    }
  }

  /// The key that an unknown one abbreviates, extends, or writes with underscores, as with the name of its option.
  private static func key(like unknown: String) -> String? {
    let name = unknown.lowercased().replacing("_", with: "-")
    guard name.count >= 3 else { return nil }
    return knownKeys.first { $0.hasPrefix(name) || name.hasPrefix($0) }
  }

  // MARK: - One value of a type

  private static func string(
    _ value: (any TOMLValueConvertible)?, _ key: String, _ example: String, _ source: Source
  ) throws(StartError) -> String? {
    guard let value else { return nil }
    guard let string = value.string else {
      throw source.wrongType(key, value.type, wanted: "a string", example: "\(key) = \(example)")
    }
    return string
  }

  private static func boolean(
    _ value: (any TOMLValueConvertible)?, _ key: String, _ source: Source
  ) throws(StartError) -> Bool? {
    guard let value else { return nil }
    guard let boolean = value.bool else {
      throw source.wrongType(key, value.type, wanted: "true or false", example: "\(key) = true")
    }
    return boolean
  }

  /// Says in plain words what the parser reports about the most frequent mistakes, and repeats its words for others.
  private static func mistake(_ error: TOMLParseError, in text: String) -> String {
    let message = error.description
    let endsEarly = message.contains("end-of-file")
    if message.hasPrefix("Error while parsing string") {
      // For the parser, the line break after a text without its quote is a control character, like any other.
      let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      let index = Int(error.source.begin.line) - 1
      let hasOther =
        lines.indices.contains(index) && lines[index].utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
      if endsEarly || (message.contains("control characters") && !hasOther) { return "a text has no closing quote" }
    }
    if endsEarly, message.hasPrefix("Error while parsing array") { return "a list has no closing ]" }
    return message
  }

  private static func seconds(
    _ value: (any TOMLValueConvertible)?, _ key: String, _ source: Source
  ) throws(StartError) -> Double? {
    guard let value else { return nil }
    guard let seconds = value.double ?? value.int.map(Double.init) else {
      throw source.wrongType(key, value.type, wanted: "a number of seconds", example: "\(key) = 600")
    }
    guard (0...maximumGraceSeconds).contains(seconds) else {
      throw StartError(
        .configuration,
        "\(source.place(of: key)): \(key) is \(value.int.map(String.init) ?? "\(seconds)"); it must be 0 to \(maximumGraceText)",
        remedy: "Write seconds, as in: \(key) = 600. With 0, photod removes missing photos at once.")
    }
    return seconds
  }

  private static func cacheSize(
    _ value: (any TOMLValueConvertible)?, _ source: Source
  ) throws(StartError) -> Int64? {
    guard let value else { return nil }
    let example = "\(imageCacheKey) = \"2 GiB\""
    let size: ByteSize?
    if let text = value.string {
      size = ByteSize(text)
      guard size != nil else {
        throw StartError(
          .configuration,
          "\(source.place(of: imageCacheKey)): \(imageCacheKey) is \"\(text)\", which is no size",
          remedy: "Write bytes, or a number with KiB, MiB, GiB or TiB, as in: \(example)")
      }
    } else {
      size = value.int.map { ByteSize(byteCount: Int64($0)) }
    }
    guard let size else {
      throw source.wrongType(imageCacheKey, value.type, wanted: "a size", example: example)
    }
    guard (ByteSize.minimumCache...ByteSize.maximumCache).contains(size) else {
      throw StartError(
        .configuration,
        "\(source.place(of: imageCacheKey)): \(imageCacheKey) is \(size); it must be \(ByteSize.minimumCache) to \(ByteSize.maximumCache)",
        remedy: "Write it as: \(example)")
    }
    return size.byteCount
  }

  private static func intervals(
    _ value: (any TOMLValueConvertible)?, _ source: Source
  ) throws(StartError) -> [String: UInt32]? {
    guard let value else { return nil }
    let example = "[\(pollKey)], and below it \"/mnt/nas/photos\" = 300"
    guard let table = value.table else {
      throw source.wrongType(pollKey, value.type, wanted: "a table of roots and seconds", example: example)
    }
    var intervals: [String: UInt32] = [:]
    for folder in table.keys.sorted() {
      let place = "\(source.place(of: folder)): the interval of \(folder)"
      guard let seconds = table[folder]?.int else {
        let type = table[folder].map { described($0.type) } ?? "nothing"
        throw StartError(
          .configuration, "\(place) is \(type), not a whole number of seconds", remedy: "Write it as: \(example)")
      }
      guard (minimumPollSeconds...maximumPollSeconds).contains(seconds) else {
        throw StartError(
          .configuration, "\(place) is \(seconds); it must be \(minimumPollSeconds) to \(maximumPollText) seconds",
          remedy: "Write it as: \(example)")
      }
      intervals[folder] = UInt32(seconds)
    }
    return intervals
  }

  private static func list(
    _ value: (any TOMLValueConvertible)?, _ key: String, of things: String, example: String, _ source: Source
  ) throws(StartError) -> [String]? {
    guard let value else { return nil }
    guard let array = value.array else {
      throw source.wrongType(key, value.type, wanted: "a list of \(things)", example: example)
    }
    var strings: [String] = []
    for element in array {
      guard let string = element.string else {
        throw StartError(
          .configuration,
          "\(source.place(of: key)): \(key) contains \(described(element.type)), and not only \(things)",
          remedy: "Write each of them as a string, as in: \(example)")
      }
      strings.append(string)
    }
    return strings
  }

  private static func folders(
    _ value: (any TOMLValueConvertible)?, _ key: String, _ source: Source
  ) throws(StartError) -> [String]? {
    let example = "\(key) = [\"~/Pictures\"]"
    guard let strings = try list(value, key, of: "folders", example: example, source) else { return nil }
    guard !strings.isEmpty else {
      throw StartError(
        .configuration, "\(source.place(of: key)): \(key) is an empty list, so there is nothing to watch",
        remedy: "Name a folder, as in: \(example), or leave the key out to watch your pictures folder.")
    }
    return strings
  }

  fileprivate static func described(_ type: TOMLType) -> String {
    switch type {
    case .array: "a list"
    case .int: "an integer"
    case .bool: "a boolean"
    default: "a \(type.description)"
    }
  }
}

/// The text of the file, to find the lines of keys. The parser keeps no positions of values that it accepts.
private struct Source {
  let path: String
  private let lines: [Substring]

  init(path: String, text: String) {
    self.path = path
    lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
  }

  /// Returns `path:line`, or the path alone if no line begins with the key.
  func place(of key: String) -> String { line(of: key).map { "\(path):\($0)" } ?? path }

  func comesFirst(_ first: String, _ second: String) -> Bool {
    (line(of: first) ?? .max, first) < (line(of: second) ?? .max, second)
  }

  func wrongType(_ key: String, _ type: TOMLType, wanted: String, example: String) -> StartError {
    StartError(
      .configuration, "\(place(of: key)): \(key) is \(ConfigurationFile.described(type)), not \(wanted)",
      remedy: "Write it as: \(example)")
  }

  /// Returns the number, from 1, of the first line that is `key =`, `"key" =`, `key.x =`, `[key]` or `[[key]]`.
  private func line(of key: String) -> Int? {
    let index = lines.firstIndex { line in
      let text = line.drop { $0.isWhitespace || $0 == "[" || $0 == "\"" || $0 == "'" }
      guard text.hasPrefix(key) else { return false }
      return text.dropFirst(key.count).first.map { " \t=.]\"'".contains($0) } ?? false
    }
    return index.map { $0 + 1 }
  }
}
