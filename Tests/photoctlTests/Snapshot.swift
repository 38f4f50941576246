import Foundation
import Testing

/// Compares text with the file of this name in Snapshots. PHOTOD_RECORD_SNAPSHOTS=1 writes the file anew. Read the
/// difference before you commit it.
func expectSnapshot(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snapshots/\(name)")
  if ProcessInfo.processInfo.environment["PHOTOD_RECORD_SNAPSHOTS"] == "1" { try Data(text.utf8).write(to: file) }
  #expect(text == (try String(contentsOf: file, encoding: .utf8)), sourceLocation: sourceLocation)
}
