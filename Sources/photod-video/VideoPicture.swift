// SPDX-License-Identifier: GPL-2.0-or-later

import CSandbox
import CVideoDecoder
import Glibc
import ImageRecords
import PictureDecoding
import SystemErrors

/// One frame of a video, for a request.
///
/// The video describes its rotation itself, so the orientation of the request is not used.
struct VideoPicture {
  let request: PictureRequest
  let descriptor: Int32

  func make() throws(PictureError) -> MadePicture {
    guard request.kind == .rendered else {
      throw PictureError(.noEmbeddedPicture, "the cover picture of a video is none of its frames")
    }
    let byteCount = sandbox_file_size(descriptor)
    guard byteCount >= 0 else {
      throw PictureError(.readFailed, "the size of the file is not known: \(errorText(errno))")
    }
    guard byteCount > 0 else { throw PictureError(.unreadable, "the file is empty") }
    var opened: OpaquePointer?
    try PictureError.check(videodecoder_open(descriptor, byteCount, request.maximumPixels, &opened))
    guard let video = opened else { throw PictureError(.outOfMemory, "the video can't be opened") }
    defer { videodecoder_close(video) }
    var frame = videodecoder_frame()
    let time = request.atMilliseconds.map { Int64(clamping: $0) } ?? -1
    try PictureError.check(videodecoder_find(video, time, &frame))
    return try picture(of: frame, video)
  }

  private func picture(of frame: videodecoder_frame, _ video: OpaquePointer) throws(PictureError) -> MadePicture {
    let displayed = PixelSize(Int(frame.width), Int(frame.height))
    try displayed.check(request)
    let orientation = Int(frame.orientation)
    let target = displayed.rotated(orientation).scaled(to: request.frame)
    let pixels = try pixels(of: frame, video, target.rotated(orientation)).upright(orientation)
    return try MadePicture(size: target, isTransparent: false, for: request) { format throws(PictureError) in
      let quality: Int32 = if case .jpeg(let quality) = format { quality } else { 0 }
      var (start, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
      try PictureError.check(
        videodecoder_encode(
          pixels.bytes.baseAddress, Int32(target.width), Int32(target.height), quality, &start, &count))
      defer { free(start) }
      return Array(UnsafeBufferPointer(start: start, count: count))
    }
  }

  /// The frame in sRGB at this size, before its rotation.
  private func pixels(
    of frame: videodecoder_frame, _ video: OpaquePointer, _ size: PixelSize
  ) throws(PictureError) -> RGBPixels {
    let conversion = ColorConversion(primaries: Int(frame.primaries), transfer: Int(frame.transfer))
    let bits = conversion == nil ? 8 : 16
    let converted = try RGBPixels(size, bits: bits)
    try PictureError.check(
      videodecoder_convert(video, Int32(size.width), Int32(size.height), Int32(bits), converted.bytes.baseAddress))
    guard let conversion else { return converted }
    let mapped = try RGBPixels(size)
    conversion.map(converted.bytes, bits: bits, into: mapped.bytes)
    return mapped
  }
}
