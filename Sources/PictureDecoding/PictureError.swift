// SPDX-License-Identifier: GPL-2.0-or-later

import ImageRecords

/// The reason why there is no picture, as photod gets it.
package struct PictureError: Error {
  package let failure: PictureFailure
  package let message: String

  package init(_ failure: PictureFailure, _ message: String) {
    self.failure = failure
    self.message = message
  }

  /// The text of a library without control characters. Libraries quote the file, so the text may be anything.
  package static func printable(_ text: UnsafePointer<CChar>) -> String {
    String(
      String(cString: text).unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
  }
}
