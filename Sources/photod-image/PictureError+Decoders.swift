// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import PictureDecoding

extension PictureError {
  /// - Throws: the last failure of the decoders, except if the result is a success.
  static func check(_ result: imagedecoders_result) throws(PictureError) {
    guard result != IMAGEDECODERS_DONE else { return }
    let text = printable(imagedecoders_message())
    let reason = text.isEmpty ? "" : " (\(text))"
    switch result {
    case IMAGEDECODERS_UNSUPPORTED:
      throw PictureError(.unsupported, "this variant of the format is not supported\(reason)")
    case IMAGEDECODERS_NO_MEMORY: throw PictureError(.outOfMemory, "there is not enough memory\(reason)")
    case IMAGEDECODERS_TOO_LARGE: throw PictureError(.tooLarge, "the picture is too large\(reason)")
    case IMAGEDECODERS_ABSENT:
      throw PictureError(.noEmbeddedPicture, text.isEmpty ? "the file has no embedded picture" : text)
    default: throw PictureError(.unreadable, "the file is damaged or cut off\(reason)")
    }
  }
}
