import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The command line as bytes from the system.
enum CommandLineBytes {
  /// The arguments without the program's name. An argument that is not UTF-8 can only be a path, and becomes a
  /// `file://` URI. Otherwise its text would be repaired, and would name another path.
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

/// A path from the command line in the form that the daemon expects.
enum AbsolutePath {
  /// The path in the form of the contract (see `FilePath`).
  static func text(_ argument: String, in directory: [UInt8] = CommandLineBytes.currentDirectory()) -> String {
    FilePath.text(bytes(FilePath.bytes(argument), in: directory))
  }

  static func bytes(_ argument: String) -> [UInt8] {
    bytes(FilePath.bytes(argument), in: CommandLineBytes.currentDirectory())
  }

  static func isFolder(_ argument: String) -> Bool {
    var status = stat()
    return stat(bytes(argument).map { CChar(bitPattern: $0) } + [0], &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether there is something at the path, or that can't be determined.
  static func mayExist(_ path: [UInt8]) -> Bool {
    var status = stat()
    return stat(path.map { CChar(bitPattern: $0) } + [0], &status) == 0 || (errno != ENOENT && errno != ENOTDIR)
  }

  /// Absolute, without `.`, `..` or doubled slashes. Symbolic links are kept (see ``LibraryFolders``).
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
