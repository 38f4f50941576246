// SPDX-License-Identifier: GPL-2.0-or-later

import CVideoDecoder
import Glibc
import PictureDecoding

let program = DecoderProgram(
  name: "photod-video", pictures: .frames,
  start: { videodecoder_start() },
  formats: {
    (0..<UInt32.max).lazy.map { videodecoder_format($0) }.prefix { $0 != nil }
      .compactMap { $0.map { String(cString: $0) } }
  },
  make: { (request, descriptor) throws(PictureError) in
    try VideoPicture(request: request, descriptor: descriptor).make()
  })

exit(program.run(CommandLine.arguments))
