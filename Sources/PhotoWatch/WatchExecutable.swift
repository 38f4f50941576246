// SPDX-License-Identifier: Apache-2.0

import Glibc
import WorkerProcess

/// Finds the photod-watch program.
package enum WatchExecutable {
  /// The path in the environment's PHOTOD_WATCH, else photod-watch beside our own executable, else
  /// ../libexec/photod/photod-watch relative to it.
  /// - Throws: `WorkerError` with the places that were searched.
  package static func find() throws -> String {
    if let given = getenv("PHOTOD_WATCH"), given.pointee != 0 {
      let path = String(cString: given)
      guard access(path, X_OK) == 0 else { throw WorkerError("PHOTOD_WATCH=\(path)", errorNumber: errno) }
      return path
    }
    let directory = try ownDirectory()
    let places = ["\(directory)/photod-watch", "\(directory)/../libexec/photod/photod-watch"]
    guard let found = places.first(where: { access($0, X_OK) == 0 }) else {
      throw WorkerError(
        "photod-watch is neither at \(places[0]) nor at \(places[1]); install it there, or set PHOTOD_WATCH to its path"
      )
    }
    return found
  }

  private static func ownDirectory() throws -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes -> Int in
      guard let start = bytes.baseAddress else { return -1 }
      return readlink("/proc/self/exe", start.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard count > 0, let slash = buffer[..<count].lastIndex(of: UInt8(ascii: "/")) else {
      throw WorkerError("the path of photod's own program is not known", errorNumber: errno)
    }
    return String(decoding: buffer[..<slash], as: UTF8.self)
  }
}
