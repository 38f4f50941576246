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
    // Libraries quote the file, so the text may be anything.
    let text = String(
      String(cString: imagedecoders_message()).unicodeScalars.map {
        $0.properties.generalCategory == .control ? " " : Character($0)
      })
    let reason = text.isEmpty ? "" : " (\(text))"
    switch result {
    case IMAGEDECODERS_DONE: return
    case IMAGEDECODERS_UNSUPPORTED:
      throw PictureError(.unsupported, "this variant of the format is not supported\(reason)")
    case IMAGEDECODERS_NO_MEMORY: throw PictureError(.outOfMemory, "there is not enough memory\(reason)")
    case IMAGEDECODERS_ABSENT:
      throw PictureError(.noEmbeddedPicture, text.isEmpty ? "the file has no embedded picture" : text)
    default: throw PictureError(.unreadable, "the file is damaged or cut off\(reason)")
    }
  }
}
