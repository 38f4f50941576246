// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

// The rules about which files and directories are wanted, and the effect of new rules.
extension FolderWatch {
  /// Whether a file with this name may be an asset. Marker files in its directory are handled elsewhere
  /// (`contentsIgnored`).
  func wantsFile(_ name: [UInt8], in index: NodeIndex) -> Bool {
    rules.wantsFile(name) && pattern(ignoring: name, isDirectory: false, in: index) == nil
  }

  /// Whether a directory with this name is entered.
  func wantsDirectory(_ name: [UInt8], in index: NodeIndex) -> Bool {
    rules.wantsDirectory(name) && pattern(ignoring: name, isDirectory: true, in: index) == nil
  }

  /// The configured pattern that excludes this name, or nil.
  private func pattern(ignoring name: [UInt8], isDirectory: Bool, in index: NodeIndex) -> IgnorePattern? {
    rules.pattern(ignoring: name, isDirectory: isDirectory, in: folder(index))
  }

  /// - Complexity: O(depth).
  func folder(_ index: NodeIndex) -> NameRules.Folder? {
    rootPath(tree.root(index)).map { NameRules.Folder(root: $0, components: tree.components(index)) }
  }

  /// Applies new rules. Directories that they exclude leave. All roots are scanned for files that are
  /// wanted now.
  /// - Throws: `WatchFailure` if a text is no valid pattern. photod sends only valid ones.
  func setRules(_ extensions: [[UInt8]], _ directoryNames: [[UInt8]], _ patternTexts: [[UInt8]]) throws(WatchFailure) {
    var patterns: [IgnorePattern] = []
    for text in patternTexts {
      do throws(IgnorePatternError) {
        patterns.append(try IgnorePattern(text))
      } catch {
        throw WatchFailure(message: "\(String(decoding: text, as: UTF8.self)) is no pattern: \(error)", status: 1)
      }
    }
    let before = rules
    rules = NameRules(extensions: extensions, ignoredDirectoryNames: directoryNames, patterns: patterns)
    guard rules != before else { return }
    for number in roots.keys.sorted() {
      guard let top = roots[number]?.top else { continue }
      dropUnwanted(below: top)
      startScan(ScanOrder(request: 0, reason: .rules, directory: nil), of: number)
    }
  }

  /// Excludes the topmost directories that the rules do not want.
  private func dropUnwanted(below top: NodeIndex) {
    var waiting = [top]
    while let index = waiting.popLast() {
      for child in tree.children(index) {
        if tree[child].flags.contains(.displaced) || wantsDirectory(Array(tree.name(child)), in: index) {
          waiting.append(child)
        } else {
          exclude(child)
        }
      }
    }
  }
}
