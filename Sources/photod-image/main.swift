// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import Glibc
import PictureDecoding

let program = DecoderProgram(
  name: "photod-image", pictures: .photos,
  start: { () throws(DecoderStartError) in
    guard imagedecoders_start() == IMAGEDECODERS_DONE else {
      throw DecoderStartError(message: "the decoders can't be initialised: \(String(cString: imagedecoders_message()))")
    }
  },
  formats: {
    (0..<UInt32.max).lazy.map { imagedecoders_format($0) }.prefix { $0 != nil }.compactMap {
      $0.map { String(cString: $0) }
    }
  },
  make: { (request, descriptor) throws(PictureError) in
    try RequestedPicture(request: request, descriptor: descriptor).make()
  })

exit(program.run(CommandLine.arguments))
