import Glibc
import Logging
import PhotoModel
import SystemErrors

/// The options of the command line. They override the configuration file, which overrides the defaults.
package struct Options: Sendable {
  package var roots: [String] = []
  /// Patterns of files and folders to ignore. If there are any, those of the file are not used.
  package var ignore: [String] = []
  package var catalog: String?
  package var socket: String?
  package var configuration: String?
  /// Between 0 and ``ConfigurationFile/maximumGraceSeconds``.
  package var removalGraceSeconds: Double?
  package var logLevel: Logger.Level?

  package init() {}
}

/// The configuration that photod runs with. Each path is absolute, and each default is filled in.
package struct Configuration: Hashable, Sendable {
  /// The folders to watch, as ``FilePath`` texts. Symbolic links are resolved, and no two roots are the same. A root
  /// lies inside another only if the outer root skips it, such as a hidden folder. A root that does not exist is kept,
  /// because its volume may be offline.
  package var roots: [String]
  /// Configured roots that lie in a folder which another root indexes. They are used only while a share is mounted
  /// there.
  package var innerRoots: [String] = []
  /// Patterns of files and folders to ignore in the roots (``WatchRules``). All are valid, and the home directory is
  /// filled in.
  package var ignore: [String] = []
  /// How long photos stay if a scan misses so many that a drive may be unmounted. If it is 0, they are removed at once.
  package var removalGrace: Duration = .seconds(600)
  /// Each folder of these roots is polled at most once in so many seconds. The other roots have the usual intervals.
  package var pollSeconds: [String: UInt32] = [:]
  package var logLevel: Logger.Level = .info
  package var catalog: String
  package var socket: String
  /// The folder of the libraries' high-water marks; nil without a home directory. It is apart from the catalog's
  /// folder, so that old copies of that folder can be recognised.
  package var stateFolder: String?
  /// The folder of the pictures that are kept. Its content can be made again.
  package var imageCache: String
  /// How large the kept pictures may be, in bytes.
  package var imageCacheSize: Int64 = 2 << 30
  /// The folder of the thumbnails that all programs of the user share; nil without a home directory.
  package var thumbnailFolder: String?
  /// Whether photod writes thumbnails for other programs.
  package var sharesThumbnails = false
  /// The path of the configuration file, even if there is no such file.
  package var file: String?
  /// Messages to log once, about roots that repeat, lie inside another root, or do not exist now.
  package var remarks: [String] = []
  /// Warnings for the library's status. They stay until the configuration is corrected and read again.
  package var warnings: [String] = []

  /// Reads the file that the options or XDG name, and combines it with the options and the defaults.
  ///
  /// - Throws: `configuration` with the first mistake. A missing file is an error only if an option names it.
  package static func load(options: Options, environment: ProcessEnvironment) throws(StartError) -> Configuration {
    try loadWithFile(options: options, environment: environment).configuration
  }

  /// Returns also the content of the file; nil if there is no file.
  static func loadWithFile(
    options: Options, environment: ProcessEnvironment
  ) throws(StartError) -> (configuration: Configuration, file: ConfigurationFile?) {
    var named: String?
    if let option = options.configuration {
      named = try resolve(option, of: "--config", environment, relativeTo: environment.currentDirectory)
    }
    let path = named ?? environment.configurationHome.map { "\($0)/photod/config.toml" }
    var file: ConfigurationFile?
    if let path, let text = try read(path, mustExist: named != nil) {
      file = try ConfigurationFile(parsing: text, path: path)
    }
    let configuration = try decide(
      options: options, file: file ?? ConfigurationFile(), path: path, environment: environment)
    return (configuration, file)
  }

  /// Returns the socket's path if the file can't be used: that of the options, or the default.
  package static func socket(options: Options, environment: ProcessEnvironment) throws(StartError) -> String {
    guard let socket = options.socket else { return "\(environment.runtimeDirectory)/photod/photod.sock" }
    return try resolve(socket, of: "--socket", environment, relativeTo: environment.currentDirectory)
  }

  private static func decide(
    options: Options, file: ConfigurationFile, path: String?, environment: ProcessEnvironment
  ) throws(StartError) -> Configuration {
    /// Returns the option's value, relative to the working directory. Without an option, returns the file's value,
    /// which must be absolute, or the default.
    func location(
      _ option: String?, _ key: String, _ value: String?, else fallback: String?
    ) throws(StartError) -> String {
      if let option {
        return try resolve(option, of: "--\(key)", environment, relativeTo: environment.currentDirectory)
      }
      if let value { return try resolve(value, of: "\(path ?? "configuration"): \(key)", environment, relativeTo: nil) }
      guard let fallback else {
        throw StartError(
          .configuration, "there is no home directory for the \(key)", remedy: "Set HOME, or give --\(key).")
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
    // Without a home directory, the catalog was named, and the pictures are kept beside it.
    let cache = environment.cacheHome.map { "\($0)/photod" } ?? Self.folder(of: catalog)
    var configuration = Configuration(
      roots: folded.roots, catalog: catalog, socket: socket, imageCache: "\(cache)/pictures", file: path)
    configuration.imageCacheSize = file.imageCacheSize ?? configuration.imageCacheSize
    configuration.thumbnailFolder = environment.cacheHome.map { "\($0)/thumbnails" }
    configuration.sharesThumbnails = file.sharesThumbnails ?? false
    configuration.stateFolder = environment.stateHome.map { "\($0)/photod" }
    configuration.innerRoots = folded.inner
    configuration.remarks = folded.remarks
    configuration.ignore = ignore
    if let seconds = options.removalGraceSeconds ?? file.removalGraceSeconds {
      configuration.removalGrace = .seconds(seconds)
    }
    configuration.pollSeconds = try Self.pollSeconds(options, file, path, folded, environment)
    configuration.logLevel = options.logLevel ?? file.logLevel ?? .info
    return configuration
  }

  /// ``pollSeconds`` by the bytes of the paths.
  var pollSecondsByPath: [[UInt8]: UInt32] {
    Dictionary(pollSeconds.map { (FilePath.bytes($0), $1) }, uniquingKeysWith: { first, _ in first })
  }

  /// The intervals of the file, by the roots without links.
  ///
  /// - Throws: `configuration` for a folder that is no root. If roots are given as options, the file may name others.
  private static func pollSeconds(
    _ options: Options, _ file: ConfigurationFile, _ path: String?, _ roots: RootList,
    _ environment: ProcessEnvironment
  ) throws(StartError) -> [String: UInt32] {
    var intervals: [String: UInt32] = [:]
    for (folder, seconds) in (file.pollSeconds ?? [:]).sorted(by: { $0.key < $1.key }) {
      let place = "\(path ?? "configuration"): \(ConfigurationFile.pollKey)"
      let written = try resolve(folder, of: place, environment, relativeTo: nil, orURI: true)
      let resolved = try RootList([written])
      guard let root = resolved.roots.first, roots.roots.contains(root) || roots.inner.contains(root) else {
        if !options.roots.isEmpty { continue }
        throw StartError(
          .configuration, "\(place): \(folder) is no root",
          remedy:
            "The roots are \((roots.roots + roots.inner).joined(separator: ", ")). Name one of them, or add the folder to roots."
        )
      }
      intervals[root] = seconds
    }
    return intervals
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  private static func picturesFolder(_ environment: ProcessEnvironment) throws(StartError) -> String {
    guard let home = environment.home else {
      throw StartError(
        .configuration, "there is no home directory with a pictures folder", remedy: "Set HOME, or give --root DIR.")
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

  /// - Returns: Nil if the file does not exist and need not.
  private static func read(_ path: String, mustExist: Bool) throws(StartError) -> String? {
    func failure(_ what: String) -> StartError {
      StartError(
        .configuration, "\(path): \(what)",
        remedy: "It must be a readable file of UTF-8 text. Correct it, or move it away.")
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 {
      let code = errno
      guard code == ENOENT || code == ENOTDIR else { throw failure(errorText(code)) }
      guard mustExist else { return nil }
      throw StartError(
        .configuration, "\(path): \(errorText(code))",
        remedy: "Check the path, or leave --config out to use the usual file.")
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: ConfigurationFile.maximumBytes + 1)
    var count = 0
    while count < bytes.count {
      let got = bytes[count...].withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if got < 0, errno == EINTR { continue }
      if got < 0 { throw failure(errorText(errno)) }
      if got == 0 { break }
      count += got
    }
    guard count <= ConfigurationFile.maximumBytes else {
      throw failure("it is larger than \(ConfigurationFile.maximumBytes) bytes")
    }
    guard let text = String(validating: bytes[..<count], as: UTF8.self) else { throw failure("it is not UTF-8") }
    return text
  }

  /// Returns an absolute path without `.` and `..`. It expands `~/`, because no shell does so in a file or in
  /// `--root=~/x`.
  ///
  /// - Parameters:
  ///   - base: The directory to which the path may be relative. If it is nil, a relative path is an error, because a
  ///     file has no working directory.
  ///   - orURI: Whether a `file://` URI is allowed too, for bytes that are not UTF-8.
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
