import WatchRecords

@testable import PhotoIndexer

// Decides which names are indexed in which folders, and handles changes of the rules.
extension SimulatedWatcher {
  static func wants(_ name: String) -> Bool { !name.hasPrefix(".") && name.hasSuffix(".jpg") }

  func wantsFile(_ name: String, in number: DirectoryNumber) -> Bool {
    Self.wants(name) && !isIgnored(name, isDirectory: false, in: number)
  }

  func wantsDirectory(_ name: String, in number: DirectoryNumber) -> Bool {
    !name.hasPrefix(".") && !isIgnored(name, isDirectory: true, in: number)
  }

  /// Whether a pattern of the configuration ignores the name.
  func isIgnored(_ name: String, isDirectory: Bool, in number: DirectoryNumber) -> Bool {
    rules.ignores(name, isDirectory: isDirectory, in: path(of: number))
  }

  /// Names that the new rules ignore leave. A scan finds those that the old rules ignored.
  func setRules() {
    rules = WatchRules.nameRules(ignoring: wantedPatterns)
    for number in roots.keys.sorted() {
      guard let top = roots[number]!.top else { continue }
      dropUnwanted(below: top)
      startScan(number, 0, .rules, nil)
    }
  }

  private func dropUnwanted(below top: DirectoryNumber) {
    var waiting = [top]
    while let number = waiting.popLast() {
      for child in children(of: number) {
        if nodes[child]!.isDisplaced || wantsDirectory(nodes[child]!.name, in: number) {
          waiting.append(child)
        } else {
          exclude(child)
        }
      }
    }
  }
}
