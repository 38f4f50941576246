// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import Testing

extension WatchSession {
  /// Expects that the model agrees with an independent walk of the disk.
  func expectDiskState(
    _ tops: [String], _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var files: [[UInt8]: Disk.Truth] = [:]
    var directories: Set<[UInt8]> = []
    for top in tops {
      let walked = Disk.walk(top)
      files.merge(walked.files) { $1 }
      directories.formUnion(walked.directories)
    }
    let known = model.files.filter { $0.value.byteCount > 0 }.mapValues(Disk.Truth.init)
    let missing = files.filter { known[$0.key] == nil }.map { String(decoding: $0.key, as: UTF8.self) }
    let extra = known.filter { files[$0.key] == nil }.map { String(decoding: $0.key, as: UTF8.self) }
    let other = files.filter { known[$0.key] != nil && known[$0.key] != $0.value }
      .map { String(decoding: $0.key, as: UTF8.self) }
    #expect(missing.isEmpty, comment, sourceLocation: sourceLocation)
    #expect(extra.isEmpty, comment, sourceLocation: sourceLocation)
    #expect(other.isEmpty, comment, sourceLocation: sourceLocation)
    let unknown = directories.subtracting(model.directoryPaths).map { String(decoding: $0, as: UTF8.self) }
    let vanished = model.directoryPaths.subtracting(directories).map { String(decoding: $0, as: UTF8.self) }
    #expect(unknown.isEmpty, comment, sourceLocation: sourceLocation)
    #expect(vanished.isEmpty, comment, sourceLocation: sourceLocation)
    // What is unreadable depends on the rights of photod-watch. But a report must not outlast its file or folder.
    let outlasting = model.unreadablePaths.filter { path in
      var look = stat()
      return Disk.withCString(path, { lstat($0, &look) }) != 0
    }.map { String(decoding: $0, as: UTF8.self) }
    #expect(outlasting.isEmpty, comment, sourceLocation: sourceLocation)
    #expect(model.violations.isEmpty, comment, sourceLocation: sourceLocation)
  }
}
