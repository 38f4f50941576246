import Glibc
import Logging

/// What the command line says. It comes before the configuration file, which comes before the defaults.
package struct Options: Sendable {
  package var roots: [String] = []
  /// Patterns of what is not wanted; any here replace those of the file.
  package var ignore: [String] = []
  package var catalog: String?
  package var socket: String?
  package var configuration: String?
  /// 0...``ConfigurationFile/maximumGraceSeconds``
  package var removalGraceSeconds: Double?
  package var logLevel: Logger.Level?

  package init() {}
}

/// What photod does, with everything decided: every path absolute, every default filled in.
package struct Configuration: Hashable, Sendable {
  /// The folders to keep, as ``FilePath`` texts: symbolic links are resolved and no two are the same. One lies inside
  /// another only if that passes it over, as a hidden folder. One that does not exist is kept: its volume may be offline.
  package var roots: [String]
  /// Roots that were named and lie in a folder that another one indexes. They count while a share is mounted there.
  package var innerRoots: [String] = []
  /// Patterns of what is not wanted in them (``WatchRules``), each a good one; the home directory is filled in.
  package var ignore: [String] = []
  /// How long what a scan alone misses is held back; 0 turns the brake off.
  package var removalGrace: Duration = .seconds(600)
  package var logLevel: Logger.Level = .info
  package var catalog: String
  package var socket: String
  /// The folder of the high-water marks of libraries, apart from the catalog's; nil without a home directory.
  package var stateFolder: String?
  /// The file that was read, or would have been.
  package var file: String?
  /// Said once in the log: roots that were folded, or are not there now.
  package var remarks: [String] = []
  /// For the library's status: what stays wrong until the configuration is mended and read again.
  package var warnings: [String] = []

  /// Reads the file that the options or XDG name and decides everything.
  ///
  /// - Throws: `configuration` with what is wrong. A file that isn't there is an error only if an option names it.
  package static func load(options: Options, environment: ProcessEnvironment) throws(StartError) -> Configuration {
    var named: String?
    if let option = options.configuration {
      named = try resolve(option, of: "--config", environment, relativeTo: environment.currentDirectory)
    }
    let path = named ?? environment.configurationHome.map { "\($0)/photod/config.toml" }
    var file = ConfigurationFile()
    if let path, let text = try read(path, mustExist: named != nil) {
      file = try ConfigurationFile(parsing: text, path: path)
    }
    return try decide(options: options, file: file, path: path, environment: environment)
  }

  /// Where to answer when the file can't be used: what the options say, else the default.
  package static func socket(options: Options, environment: ProcessEnvironment) throws(StartError) -> String {
    guard let socket = options.socket else { return "\(environment.runtimeDirectory)/photod/photod.sock" }
    return try resolve(socket, of: "--socket", environment, relativeTo: environment.currentDirectory)
  }

  private static func decide(
    options: Options, file: ConfigurationFile, path: String?, environment: ProcessEnvironment
  ) throws(StartError) -> Configuration {
    /// The option's value, relative to the working directory; else the file's, which has none; else the default.
    func location(
      _ option: String?, _ key: String, _ value: String?, else fallback: String?
    ) throws(StartError) -> String {
      if let option {
        return try resolve(option, of: "--\(key)", environment, relativeTo: environment.currentDirectory)
      }
      if let value { return try resolve(value, of: "\(path ?? "configuration"): \(key)", environment, relativeTo: nil) }
      guard let fallback else {
        throw StartError(
          .configuration, "there is no home directory to keep the \(key) in", remedy: "Set HOME, or give --\(key).")
      }
      return fallback
    }
    let catalog = try location(
      options.catalog, "catalog", file.catalog, else: environment.dataHome.map { "\($0)/photod/catalog.sqlite" })
    let socket = try location(
      options.socket, "socket", file.socket, else: Self.socket(options: options, environment: environment))

    var roots: [String] = []
    if !options.roots.isEmpty {
      for root in options.roots {
        roots.append(
          try resolve(root, of: "--root", environment, relativeTo: environment.currentDirectory, orURI: true))
      }
    } else if let listed = file.roots {
      for root in listed {
        roots.append(
          try resolve(root, of: "\(path ?? "configuration"): roots", environment, relativeTo: nil, orURI: true))
      }
    } else {
      roots = [try picturesFolder(environment)]
    }
    let ignore = try Self.patterns(options, file, path, environment)
    let folded = try RootList(roots, ignore: ignore)
    var configuration = Configuration(roots: folded.roots, catalog: catalog, socket: socket, file: path)
    configuration.stateFolder = environment.stateHome.map { "\($0)/photod" }
    configuration.innerRoots = folded.inner
    configuration.remarks = folded.remarks
    configuration.ignore = ignore
    if let seconds = options.removalGraceSeconds ?? file.removalGraceSeconds {
      configuration.removalGrace = .seconds(seconds)
    }
    configuration.logLevel = options.logLevel ?? file.logLevel ?? .info
    return configuration
  }

  private static func picturesFolder(_ environment: ProcessEnvironment) throws(StartError) -> String {
    guard let home = environment.home else {
      throw StartError(
        .configuration, "there is no home directory to find your pictures in", remedy: "Set HOME, or give --root DIR.")
    }
    if let directory = environment.configurationHome,
      let text = try read("\(directory)/user-dirs.dirs", mustExist: false),
      let pictures = UserDirectories.pictures(in: text, home: home)
    {
      return pictures
    }
    return "\(home)/Pictures"
  }

  // MARK: - Files and paths

  /// - Returns: Nil if it isn't there and need not be.
  private static func read(_ path: String, mustExist: Bool) throws(StartError) -> String? {
    func failure(_ what: String) -> StartError {
      StartError(.configuration, "\(path): \(what)", remedy: "Make it a readable file of UTF-8 text, or move it away.")
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 {
      let code = errno
      if code == ENOENT || code == ENOTDIR, !mustExist { return nil }
      throw failure(systemMessage(code))
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: ConfigurationFile.maximumBytes + 1)
    var count = 0
    while count < bytes.count {
      let got = bytes[count...].withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if got < 0, errno == EINTR { continue }
      if got < 0 { throw failure(systemMessage(errno)) }
      if got == 0 { break }
      count += got
    }
    guard count <= ConfigurationFile.maximumBytes else {
      throw failure("larger than \(ConfigurationFile.maximumBytes) bytes")
    }
    guard let text = String(validating: bytes[..<count], as: UTF8.self) else { throw failure("not UTF-8") }
    return text
  }

  /// An absolute path without `.` and `..`. `~/` is the home directory: no shell expands it in a file, nor in `--root=~/x`.
  ///
  /// - Parameters:
  ///   - base: What a relative path is relative to. Nil: it is an error, since a file has no working directory.
  ///   - orURI: Whether a `file://` URI is as good, for bytes that are not UTF-8.
  private static func resolve(
    _ path: String, of name: String, _ environment: ProcessEnvironment, relativeTo base: String?, orURI: Bool = false
  ) throws(StartError) -> String {
    if orURI, path.hasPrefix("file:///") { return path }
    var text = path
    if text == "~" || text.hasPrefix("~/") {
      guard let home = environment.home else {
        throw StartError(.configuration, "\(name): \(path) needs a home directory", remedy: "Set HOME.")
      }
      text = home + text.dropFirst()
    }
    if let base, !text.isEmpty, !text.hasPrefix("/") { text = "\(base)/\(text)" }
    guard text.hasPrefix("/"), !text.utf8.contains(0) else {
      throw StartError(
        .configuration, "\(name): \"\(path)\" is not an absolute path", remedy: "Begin it with / or with ~/ .")
    }
    var parts: [Substring] = []
    for part in text.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }
}
