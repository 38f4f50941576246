import PhotoIndexer

// The patterns of the files and folders that photod ignores.
extension Configuration {
  /// Returns the patterns of the options, or those of the file if the options have none.
  ///
  /// - Throws: `configuration`, for too many patterns, or for the first text that is not a pattern.
  static func patterns(
    _ options: Options, _ file: ConfigurationFile, _ path: String?, _ environment: ProcessEnvironment
  ) throws(StartError) -> [String] {
    let isOption = !options.ignore.isEmpty
    let written = isOption ? options.ignore : file.ignore ?? []
    let place = isOption ? "--ignore" : "\(path ?? "configuration"): ignore"
    guard written.count <= WatchRules.maximumPatterns else {
      throw StartError(
        .configuration, "\(place): there are \(written.count) patterns, more than \(WatchRules.maximumPatterns)",
        remedy: "Write fewer patterns, with * as in \"*.gif\".")
    }
    var patterns: [String] = []
    for text in written {
      var pattern = text
      // No shell expands `~` in a file, so photod does.
      if text == "~" || text.hasPrefix("~/") {
        guard let home = environment.home else {
          throw StartError(.configuration, "\(place): \(text) needs a home directory", remedy: "Set HOME.")
        }
        pattern = escaped(home) + text.dropFirst()
      }
      if let problem = WatchRules.problem(ofPattern: Array(pattern.utf8)) {
        throw StartError(
          .configuration, "\(place): \"\(text)\" is no pattern: \(problem)",
          remedy: "Write a name (\"Exports\", \"*.gif\"), a path below a root (\"Cache/**\") or an absolute path.")
      }
      patterns.append(pattern)
    }
    return patterns
  }

  /// Returns a pattern that matches exactly this text.
  private static func escaped(_ text: String) -> String {
    var pattern = ""
    for character in text {
      if "*?[\\".contains(character) { pattern.append("\\") }
      pattern.append(character)
    }
    return pattern
  }
}
