// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

// Which names are wanted where, and what follows when that changes.
extension FolderWatch {
  /// Whether a file may be an asset here. The directory's own markers are another question (`contentsIgnored`).
  func wantsFile(_ name: [UInt8], in index: NodeIndex) -> Bool {
    rules.wantsFile(name) && pattern(ignoring: name, isDirectory: false, in: index) == nil
  }

  /// Whether a directory here is entered.
  func wantsDirectory(_ name: [UInt8], in index: NodeIndex) -> Bool {
    rules.wantsDirectory(name) && pattern(ignoring: name, isDirectory: true, in: index) == nil
  }

  /// The pattern of the configuration that keeps this name out.
  private func pattern(ignoring name: [UInt8], isDirectory: Bool, in index: NodeIndex) -> IgnorePattern? {
    rules.pattern(ignoring: name, isDirectory: isDirectory, in: folder(index))
  }

  /// - complexity: O(depth).
  func folder(_ index: NodeIndex) -> NameRules.Folder? {
    rootPath(tree.root(index)).map { NameRules.Folder(root: $0, components: tree.components(index)) }
  }

  /// New rules: what they keep out leaves, and all is scanned for what they want that was not.
  /// - throws: on what is no pattern: photod does not let one through.
  func setRules(_ extensions: [[UInt8]], _ directoryNames: [[UInt8]], _ patternTexts: [[UInt8]]) throws(Failure) {
    var patterns: [IgnorePattern] = []
    for text in patternTexts {
      do throws(IgnorePatternError) {
        patterns.append(try IgnorePattern(text))
      } catch {
        throw Failure(message: "\(String(decoding: text, as: UTF8.self)) is no pattern: \(error)", status: 1)
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

  /// Drops the highest directories that the rules keep out: a person said so.
  private func dropUnwanted(below top: NodeIndex) {
    var waiting = [top]
    while let index = waiting.popLast() {
      for child in tree.children(index) {
        if tree[child].flags.contains(.displaced) || wantsDirectory(Array(tree.name(child)), in: index) {
          waiting.append(child)
        } else {
          drop(child, evidence: .event)
        }
      }
    }
  }
}
