// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import PictureDecoding

// It needs no library but libjpeg, so that it starts in a few milliseconds: the first picture of a session waits for it.
let program = DecoderProgram(
  name: "photod-preview", pictures: .embedded,
  start: {},
  formats: { ["image/jpeg"] },
  make: { (request, descriptor) throws(PictureError) in
    try PreviewMaker(request: request, descriptor: descriptor).make()
  })

exit(program.run(CommandLine.arguments))
