// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A program that photod starts.
package struct HelperProgram: Sendable {
  package let name: String
  /// The environment variable with the path of another program for its place, for tests and unusual installations.
  package let variable: String

  package static let watch = HelperProgram(name: "photod-watch", variable: "PHOTOD_WATCH")
  package static let extract = HelperProgram(name: "photod-extract", variable: "PHOTOD_EXTRACT")
  package static let image = HelperProgram(name: "photod-image", variable: "PHOTOD_IMAGE")
  package static let preview = HelperProgram(name: "photod-preview", variable: "PHOTOD_PREVIEW")
  package static let video = HelperProgram(name: "photod-video", variable: "PHOTOD_VIDEO")

  /// The path in the environment variable, else the program beside our own executable, else
  /// ../libexec/photod/NAME relative to it.
  /// - Throws: `WorkerError` with the places that were searched.
  package func find() throws -> String {
    if let given = getenv(variable), given.pointee != 0 {
      let path = String(cString: given)
      guard access(path, X_OK) == 0 else { throw WorkerError("\(variable)=\(path)", errorNumber: errno) }
      return path
    }
    let directory = try Self.ownDirectory()
    let places = ["\(directory)/\(name)", "\(directory)/../libexec/photod/\(name)"]
    guard let found = places.first(where: { access($0, X_OK) == 0 }) else {
      throw WorkerError(
        "\(name) is neither at \(places[0]) nor at \(places[1]); install it there, or set \(variable) to its path"
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
