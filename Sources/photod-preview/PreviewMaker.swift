// SPDX-License-Identifier: GPL-2.0-or-later

import EmbeddedPictures
import ImageRecords
import PictureDecoding

/// Makes the embedded picture of a request as JPEG. All else is `unsupported`, and photod-image makes it.
struct PreviewMaker {
  let request: PictureRequest
  let descriptor: Int32

  func make() throws(PictureError) -> MadePicture {
    guard request.kind == .embedded, request.format != .png else {
      throw PictureError(.unsupported, "photod-preview makes JPEGs of embedded pictures only")
    }
    let head = try LoadedFile(descriptor: descriptor, most: EmbeddedThumbnail<RGBPixels>.headBytes)
    guard JPEGStructure(head.view) != nil else {
      throw PictureError(.unsupported, "photod-preview reads JPEGs only")
    }
    return try EmbeddedThumbnail<RGBPixels>(request: request, descriptor: descriptor).make(head)
  }
}
