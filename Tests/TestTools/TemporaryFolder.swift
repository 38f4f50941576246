import Foundation
import Glibc

/// An empty folder for one test. It is removed with all that is in it when its last reference goes.
package final class TemporaryFolder: Sendable {
  package let path: String

  /// - Parameter name: a part of the folder's name, which tells a person whose it is if a test is killed.
  package init(_ name: String) throws {
    let place = NSTemporaryDirectory()
    // The path is short, because that of a socket in it may have at most 107 bytes.
    var template = Array("\(place.hasSuffix("/") ? place : place + "/")photod-\(name)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch { print("\(path) stays behind: \(error)") }
  }
}
