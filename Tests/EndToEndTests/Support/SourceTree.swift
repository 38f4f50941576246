import Foundation

/// The folders of the project whose sources these tests are. They have fixtures, scripts and documentation.
enum SourceTree {
  static let package = tests.deletingLastPathComponent()
  static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
}
