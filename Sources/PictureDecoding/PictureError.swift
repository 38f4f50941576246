// SPDX-License-Identifier: GPL-2.0-or-later

import ImageRecords

/// The reason why there is no picture, as photod gets it.
package struct PictureError: Error {
  package let failure: PictureFailure
  package let message: String

  /// - Parameter message: the text of a library may be a part of it. Libraries quote the file and break lines, so all
  ///   control characters and line breaks become spaces, and spaces in a row become one.
  package init(_ failure: PictureFailure, _ message: String) {
    self.failure = failure
    self.message = Self.oneLine(message)
  }

  /// The text of a library, on one line.
  package static func printable(_ text: UnsafePointer<CChar>) -> String { oneLine(String(cString: text)) }

  private static func oneLine(_ text: String) -> String {
    text.unicodeScalars.split { scalar in
      scalar.properties.isWhitespace || [.control, .format].contains(scalar.properties.generalCategory)
    }.map(String.init).joined(separator: " ")
  }
}
