import ArgumentParser
import PhotoClient
import PhotoModel

/// An asset as the command line names it: by its id, or by the path of one of its files.
enum AssetArgument: ExpressibleByArgument, Hashable, Sendable {
  case id(Int64)
  /// As it was typed.
  case path(String)

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    if argument.utf8.allSatisfy({ (48...57).contains($0) }), let id = Int64(argument) {
      self = .id(id)
    } else {
      self = .path(argument)
    }
  }
}

extension PhotoLibrary {
  /// The ids, in the order of the arguments, each once.
  ///
  /// - Throws: ``Failure`` for the first path that no asset has.
  func ids(of arguments: [AssetArgument]) async throws -> [Int64] {
    let typed = arguments.compactMap { if case .path(let path) = $0 { path } else { nil } }
    let found = typed.isEmpty ? [] : try await findAssets(paths: typed.map { AbsolutePath.text($0) })
    let missing = zip(typed, found).filter { $0.1 == nil }.map(\.0)
    if let first = missing.first {
      throw Failure(
        .noInput, "'\(first)' is not in the library" + (missing.count > 1 ? ", nor are \(missing.count - 1) more" : ""),
        remedy: "Ask 'photoctl why \(ShellWord.quoted(first))'. (A number alone is an id.)")
    }
    var ids: [Int64] = []
    var seen: Set<Int64> = []
    var idsByPath = found.compactMap { $0 }[...]
    for argument in arguments {
      let id: Int64
      switch argument {
      case .id(let number): id = number
      case .path: id = idsByPath.removeFirst()
      }
      if seen.insert(id).inserted { ids.append(id) }
    }
    return ids
  }
}

/// Text as a word of a shell's command line.
enum ShellWord {
  static func quoted(_ text: String) -> String {
    let plain = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...: true
      default: "/._-+,:@%=".utf8.contains(byte)
      }
    }
    if plain && !text.isEmpty { return text }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
