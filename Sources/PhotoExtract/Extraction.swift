import ExtractRecords

/// The result of reading the facts of a file in another process.
package enum Extraction: Sendable {
  case facts(MediaFacts)
  /// The file is to blame: reading it ended the process, or took too long. The text is the reason, for people.
  case blamed(String)
  /// The file was not read, and is not to blame: photod-extract can't be started, for example.
  case unavailable(String)
  /// All processes were busy for some seconds. The file must be asked for again.
  case busy
  /// The file is still being read, and takes longer than callers wait.
  case unfinished(UnfinishedExtraction)
}
