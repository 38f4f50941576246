import ArgumentParser
import PhotoModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The assets or files that a command is about, from its command line, or from standard input if that says `-`.
struct AssetArguments: ParsableArguments {
  @Flag(
    name: [.customShort("0"), .customLong("null")],
    help: "Entries of standard input end with NUL, as `--format paths0` prints them, and not with a line break.")
  var isNullEnded = false

  @Argument(
    help: ArgumentHelp(
      "Ids, or paths of files; - reads them from standard input (also lines of --format jsonl).", valueName: "id|path"),
    completion: .file())
  var arguments: [AssetArgument]

  func validate() throws {
    if isNullEnded && !arguments.contains(.path("-")) {
      throw ValidationError("-0 needs standard input. Write - for the ids and paths that come from there.")
    }
  }

  /// All names in their order. `-` may be among them once, and is replaced by standard input.
  ///
  /// - Throws: ``Failure`` if standard input can't be read or is malformed.
  func names() throws -> [NamedAsset] {
    let names = try Self.names(of: arguments, isNullEnded: isNullEnded)
    // An empty list is no error, because a query in a pipe may find nothing.
    if names.isEmpty { Output.complain("nothing to do: standard input names no photos\n") }
    return names
  }

  static func names(of arguments: [AssetArgument], isNullEnded: Bool) throws -> [NamedAsset] {
    guard arguments.contains(.path("-")) else { return arguments.map { NamedAsset($0) } }
    let entries = StandardInput(isNullEnded: isNullEnded, directory: CommandLineBytes.currentDirectory())
    var read: [NamedAsset]? = try entries.names(in: try Input.readAll())
    return arguments.flatMap { argument -> [NamedAsset] in
      guard argument == .path("-") else { return [NamedAsset(argument)] }
      defer { read = nil }
      return read ?? []
    }
  }
}

/// Parses standard input, which has one entry on each line, or one before each NUL.
struct StandardInput {
  var isNullEnded = false
  /// The folder for relative paths that are not UTF-8.
  let directory: [UInt8]

  /// A larger number is a mistake, or needs a program of its own.
  var maximumEntries = 1_000_000

  /// No path is nearly as long. A longer entry is something else, and would be too large for one call of photod.
  private static let maximumPathBytes = 64 << 10

  /// Empty entries are skipped. A line may end with CR LF, as those of CSV do.
  ///
  /// - Throws: ``Failure`` if there are too many entries, or one is malformed.
  func names(in bytes: [UInt8]) throws -> [NamedAsset] {
    var names: [NamedAsset] = []
    let end: UInt8 = isNullEnded ? 0 : UInt8(ascii: "\n")
    var rest = bytes[...]
    var number = 0
    // Entries are split one by one. Split all at once, empty lines would take 32 times their own memory.
    while !rest.isEmpty {
      var entry = rest.prefix { $0 != end }
      rest = rest.dropFirst(entry.count + 1)
      if !isNullEnded, entry.last == UInt8(ascii: "\r") { entry.removeLast() }
      number += 1
      guard !entry.isEmpty else { continue }
      let place = "\(isNullEnded ? "entry" : "line") \(number) of standard input"
      guard names.count < maximumEntries else {
        throw Failure(
          .usage, "standard input names more than \(Text.grouped(maximumEntries)) photos",
          remedy: "Use several commands.")
      }
      names.append(
        NamedAsset(isJSON(entry) ? .id(try id(entry, at: place)) : try argument(entry, at: place), at: place))
    }
    return names
  }

  private func isJSON(_ entry: ArraySlice<UInt8>) -> Bool { !isNullEnded && entry.starts(with: "{\"".utf8) }

  private func id(_ entry: ArraySlice<UInt8>, at place: String) throws -> AssetID {
    do {
      return try JSONDecoder().decode(Line.self, from: Data(entry)).id
    } catch {
      throw Failure(
        .data, "\(place) begins like JSON, and is no asset", remedy: "For a file with such a name, write ./{...")
    }
  }

  private func argument(_ entry: ArraySlice<UInt8>, at place: String) throws -> AssetArgument {
    if !isNullEnded, entry.contains(0) {
      throw Failure(
        .data, "\(place) contains a NUL", remedy: "For the output of `--format paths0`, use -0."
      )
    }
    guard entry.count <= Self.maximumPathBytes else {
      throw Failure(.data, "\(place) is too long for a path", remedy: "Each entry must be an id or a path.")
    }
    let text = CommandLineBytes.text(Array(entry), in: directory)
    guard let argument = AssetArgument(argument: text) else { return .path(text) }
    return argument
  }

  /// The part of a line from `--format jsonl` that is needed here.
  private struct Line: Decodable { let id: AssetID }
}
