// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// A pattern that holds without any configuration. It matches names that sync programs and photo applications give,
/// and that no photo of a person has.
///
/// Scans and events treat such a name as one that a configured pattern matches. So photos of an existing library that
/// match leave it with the first scan, and the removal brake does not hold them back.
public struct BuiltInPattern: Hashable, Sendable {
  public enum Origin: Hashable, Sendable {
    /// Two devices changed a file at the same time, and the sync program kept one version under this name. A folder
    /// with such a name is wanted, because it may have photos that are nowhere else.
    case syncConflict
    /// A photo application keeps its copies, previews and data there.
    case photoApplication
  }

  public let pattern: IgnorePattern
  public let origin: Origin

  public static let all: [BuiltInPattern] = [
    // Syncthing: "a.sync-conflict-20240102-030405-ABCDEFG.jpg"
    BuiltInPattern("*.sync-conflict-*", .syncConflict),
    // Dropbox, Nextcloud: "a (conflicted copy 2024-01-02).jpg", "a (Anna's conflicted copy 2024-01-02).jpg"
    BuiltInPattern("*(*conflicted copy*)*", .syncConflict),
    // Apple Photos
    BuiltInPattern("*.photoslibrary/", .photoApplication),
    // Lightroom: previews, and the files of a catalog
    BuiltInPattern("*.lrdata/", .photoApplication),
    BuiltInPattern("*.lrcat-data", .photoApplication),
    BuiltInPattern("*.lrcat", .photoApplication),
    BuiltInPattern("*.lrcat.lock", .photoApplication),
  ]

  private init(_ text: String, _ origin: Origin) {
    do throws(IgnorePatternError) {
      pattern = try IgnorePattern(Array(text.utf8))
    } catch {
      preconditionFailure("\(text) is no pattern: \(error)")
    }
    self.origin = origin
  }

  private static let ofFiles = all.filter { !$0.pattern.isForDirectoriesOnly }
  private static let ofDirectories = all.filter { $0.origin != .syncConflict }

  /// The first built-in pattern that this name matches. All of them apply at any depth.
  public static func ignoring(_ name: [UInt8], isDirectory: Bool) -> BuiltInPattern? {
    (isDirectory ? ofDirectories : ofFiles).first { $0.pattern.matches([], name[...]) }
  }
}
