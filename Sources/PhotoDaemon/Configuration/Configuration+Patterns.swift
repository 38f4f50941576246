import PhotoIndexer

// What is ignored.
extension Configuration {
  /// The options' patterns, else the file's.
  ///
  /// - Throws: `configuration`, naming the first that is none.
  static func patterns(
    _ options: Options, _ file: ConfigurationFile, _ path: String?, _ environment: ProcessEnvironment
  ) throws(StartError) -> [String] {
    let isOption = !options.ignore.isEmpty
    let written = isOption ? options.ignore : file.ignore ?? []
    let place = isOption ? "--ignore" : "\(path ?? "configuration"): ignore"
    guard written.count <= WatchRules.maximumPatterns else {
      throw StartError(
        .configuration, "\(place): \(written.count) patterns, more than \(WatchRules.maximumPatterns)",
        remedy: "Say it with fewer, as in: \"*.gif\".")
    }
    var patterns: [String] = []
    for text in written {
      var pattern = text
      // As with folders: no shell expands it in a file.
      if text == "~" || text.hasPrefix("~/") {
        guard let home = environment.home else {
          throw StartError(.configuration, "\(place): \(text) needs a home directory", remedy: "Set HOME.")
        }
        pattern = escaped(home) + text.dropFirst()
      }
      if let problem = WatchRules.problem(ofPattern: Array(pattern.utf8)) {
        throw StartError(
          .configuration, "\(place): \"\(text)\" is no pattern: \(problem)",
          remedy: "Write a name (\"Exports\", \"*.gif\"), a path below a folder (\"Cache/**\") or a whole one.")
      }
      patterns.append(pattern)
    }
    return patterns
  }

  /// As a pattern for just this text.
  private static func escaped(_ text: String) -> String {
    var pattern = ""
    for character in text {
      if "*?[\\".contains(character) { pattern.append("\\") }
      pattern.append(character)
    }
    return pattern
  }
}
