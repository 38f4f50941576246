// SPDX-License-Identifier: GPL-2.0-or-later

import CVideoDecoder
import ImageRecords
import PictureDecoding

extension PictureError {
  /// - Throws: the last failure of the decoder, except if the result is a success.
  static func check(_ result: videodecoder_result) throws(PictureError) {
    let failure: PictureFailure
    switch result {
    case VIDEODECODER_DONE: return
    case VIDEODECODER_UNSUPPORTED: failure = .unsupported
    case VIDEODECODER_NO_MEMORY: failure = .outOfMemory
    case VIDEODECODER_TOO_LARGE: failure = .tooLarge
    case VIDEODECODER_READ_FAILED: failure = .readFailed
    default: failure = .unreadable
    }
    throw PictureError(failure, printable(videodecoder_message()))
  }
}
