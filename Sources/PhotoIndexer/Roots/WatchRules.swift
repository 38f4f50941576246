import PhotoModel
import WatchRecords

/// The names of the files that photod-watch reports, and of the folders that it does not enter.
package enum WatchRules {
  /// Folders that programs and file systems keep beside photos: thumbnails, snapshots and trash. Hidden ones
  /// (`.thumbnails`, `.snapshots`, `.Trash-1000`, `.stversions`, `.dtrash`) are ignored anyway. The bytes of the
  /// names are compared, so a name that is written in two ways is here twice. The names of sync programs and photo
  /// applications vary, so they are patterns (`BuiltInPattern`).
  package static let ignoredDirectoryNames: [[UInt8]] = [
    // Synology, QNAP
    "@eaDir", "#recycle", "#snapshot", "@Recycle", "@Recently-Snapshot", "@__thumb", "@tmp",
    // ext4, NTFS and FAT under Windows
    "lost+found", "$RECYCLE.BIN", "$Recycle.Bin", "RECYCLER", "System Volume Information",
    // macOS, on shares and in archives
    "Network Trash Folder", "Temporary Items", "__MACOSX",
  ].map { Array($0.utf8) }

  package static let extensions: [[UInt8]] = MediaFormat.extensions.map { Array($0.utf8) }

  /// The largest number of patterns: each is compared with every name.
  package static let maximumPatterns = 1000

  /// The problem of a pattern in the configuration, or nil for a good pattern.
  package static func problem(ofPattern pattern: [UInt8]) -> String? {
    do throws(IgnorePatternError) {
      _ = try IgnorePattern(pattern)
      return nil
    } catch {
      return error.description
    }
  }

  /// Whether a root indexes a folder below it, as far as names and patterns tell: no folder on the way is hidden or ignored.
  package static func indexes(_ folder: [UInt8], belowRoot root: [UInt8], ignoring patterns: [[UInt8]]) -> Bool {
    let rules = nameRules(ignoring: patterns)
    let components = folder.dropFirst(root.count).split(separator: UInt8(ascii: "/"))
    return components.indices.allSatisfy { index in
      let place = NameRules.Folder(root: root, components: Array(components[..<index]))
      let name = Array(components[index])
      return rules.wantsDirectory(name) && rules.pattern(ignoring: name, isDirectory: true, in: place) == nil
    }
  }

  /// The rules as photod-watch has them; texts that are no patterns are left out. The configuration rejects them earlier.
  static func nameRules(ignoring patterns: [[UInt8]]) -> NameRules {
    NameRules(
      extensions: extensions, ignoredDirectoryNames: ignoredDirectoryNames,
      patterns: patterns.compactMap { pattern in
        do throws(IgnorePatternError) { return try IgnorePattern(pattern) } catch { return nil }
      })
  }
}
