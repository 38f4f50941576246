import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The command line as the bytes that the system gave.
enum CommandLineBytes {
  /// The arguments without the program's name. One that is not UTF-8 can only mean a path, and becomes the `file://`
  /// URI of it, since the text of an argument would otherwise be repaired into another path.
  static func arguments() -> [String] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      CommandLine.unsafeArgv[index].map { pointer in
        text(Array(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer))), in: currentDirectory())
      }
    }
  }

  static func text(_ bytes: [UInt8], in directory: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self) ?? FilePath.text(AbsolutePath.bytes(bytes, in: directory))
  }

  static func currentDirectory() -> [UInt8] {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    guard getcwd(&buffer, buffer.count) != nil else { return [UInt8(ascii: "/")] }
    return buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
  }
}

/// A path of the command line as the daemon wants it.
enum AbsolutePath {
  /// As text of the wire (see `FilePath`), from text of the command line.
  static func text(_ argument: String, in directory: [UInt8] = CommandLineBytes.currentDirectory()) -> String {
    FilePath.text(bytes(FilePath.bytes(argument), in: directory))
  }

  /// Absolute, without `.`, `..` or doubled slashes. Links are not looked at: photod knows a folder by the path that it
  /// was configured with.
  static func bytes(_ path: [UInt8], in directory: [UInt8]) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    let whole = path.first == slash ? path : directory + [slash] + path
    var names: [ArraySlice<UInt8>] = []
    for name in whole.split(separator: slash) {
      switch Array(name) {
      case [UInt8(ascii: ".")]: continue
      case [UInt8(ascii: "."), UInt8(ascii: ".")]: _ = names.popLast()
      default: names.append(name)
      }
    }
    return names.isEmpty ? [slash] : names.flatMap { [slash] + $0 }
  }
}
