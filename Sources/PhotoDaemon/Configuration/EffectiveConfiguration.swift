/// The configuration that photod would run with, and where each value comes from (`photod --check-config`).
///
/// It reads only the files of the configuration, and looks at the roots and at the places of the catalog and the
/// socket. It makes no folder, takes no lock, and leaves the catalog and the socket alone.
package struct EffectiveConfiguration: Sendable {
  private let configuration: Configuration
  private let options: Options
  /// Nil if there is no file.
  private let file: ConfigurationFile?

  /// - Throws: The error with which photod would not start.
  package init(options: Options, environment: ProcessEnvironment) throws(StartError) {
    (configuration, file) = try Configuration.loadWithFile(options: options, environment: environment)
    self.options = options
    // A start checks these places when it makes the files, which is not done here.
    try PlaceCheck.catalog(configuration.catalog)
    try PlaceCheck.folder(of: configuration.catalog)
    try PlaceCheck.socket(configuration.socket)
    try PlaceCheck.folder(of: configuration.socket)
  }

  /// TOML that configures the same. Comments name the source of each value, and the warnings.
  package var text: String {
    let place = configuration.file ?? "none, because there is no home directory"
    var lines = ["# configuration file: \(Self.comment(place))\(file == nil ? " (does not exist)" : "")"]
    for warning in configuration.warnings + configuration.remarks {
      lines.append("# warning: \(Self.comment(warning))")
    }
    lines += Self.list(
      "roots", configuration.roots + configuration.innerRoots,
      origin("--root", isOption: !options.roots.isEmpty, isInFile: file?.roots != nil))
    lines += Self.list(
      "ignore", configuration.ignore,
      origin("--ignore", isOption: !options.ignore.isEmpty, isInFile: file?.ignore != nil))
    let seconds = configuration.removalGrace / .seconds(1)
    lines.append(
      "removal-grace-seconds = \(Int(exactly: seconds).map(String.init) ?? "\(seconds)")  # "
        + origin(
          "--removal-grace", isOption: options.removalGraceSeconds != nil, isInFile: file?.removalGraceSeconds != nil))
    lines.append(
      "log-level = \(Self.string(configuration.logLevel.rawValue))  # "
        + origin("--log-level", isOption: options.logLevel != nil, isInFile: file?.logLevel != nil))
    lines.append(
      "catalog = \(Self.string(configuration.catalog))  # "
        + origin("--catalog", isOption: options.catalog != nil, isInFile: file?.catalog != nil))
    lines.append(
      "socket = \(Self.string(configuration.socket))  # "
        + origin("--socket", isOption: options.socket != nil, isInFile: file?.socket != nil))
    lines.append(
      "\(ConfigurationFile.imageCacheKey) = \(Self.string("\(ByteSize(byteCount: configuration.imageCacheSize))"))  # "
        + (file?.imageCacheSize == nil ? "default" : "file") + ", in \(Self.comment(configuration.imageCache))")
    lines.append(
      "\(ConfigurationFile.shareKey) = \(configuration.sharesThumbnails)  # "
        + (file?.sharesThumbnails == nil ? "default" : "file")
        + (configuration.thumbnailFolder.map { ", in \(Self.comment($0))" } ?? ""))
    // A table of TOML has all keys that follow.
    if !configuration.pollSeconds.isEmpty {
      lines.append("[\(ConfigurationFile.pollKey)]  # file")
      for (root, seconds) in configuration.pollSeconds.sorted(by: { $0.key < $1.key }) {
        lines.append("\(Self.string(root)) = \(seconds)")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func origin(_ option: String, isOption: Bool, isInFile: Bool) -> String {
    isOption ? "option \(option)" : isInFile ? "file" : "default"
  }

  // MARK: - TOML

  /// A longer list has a line for each text.
  private static func list(_ key: String, _ texts: [String], _ origin: String) -> [String] {
    guard texts.count > 1 else { return ["\(key) = [\(texts.map(string).joined())]  # \(origin)"] }
    return ["\(key) = [  # \(origin)"] + texts.map { "  \(string($0))," } + ["]"]
  }

  /// A basic string of TOML.
  private static func string(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case _ where isControl(scalar): quoted += escape(scalar)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// A text without line breaks, which would end the comment, and without the control characters of terminals.
  private static func comment(_ text: String) -> String {
    text.unicodeScalars.map { isControl($0) ? escape($0) : String($0) }.joined()
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
