// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import ImageRecords

/// The reason why there is no picture, as photod gets it.
struct PictureError: Error {
  let failure: PictureFailure
  let message: String

  init(_ failure: PictureFailure, _ message: String) {
    self.failure = failure
    self.message = message
  }

  /// - Throws: the last failure of the decoders, except if the result is a success.
  static func check(_ result: imagedecoders_result) throws(PictureError) {
    let failure: PictureFailure
    switch result {
    case IMAGEDECODERS_DONE: return
    case IMAGEDECODERS_UNSUPPORTED: failure = .unsupported
    case IMAGEDECODERS_NO_MEMORY: failure = .outOfMemory
    case IMAGEDECODERS_ABSENT: failure = .noEmbeddedPicture
    default: failure = .unreadable
    }
    // Libraries quote the file, so the text may be anything.
    let text = String(decoding: String(cString: imagedecoders_message()).utf8, as: UTF8.self)
    let printable = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
    throw PictureError(failure, String(printable))
  }
}
