// SPDX-License-Identifier: GPL-2.0-or-later

import ImageRecords

/// Width and height of a picture, in pixels.
package struct PixelSize: Equatable {
  package var width: Int
  package var height: Int

  package init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  package var longerSide: Int { max(width, height) }
  package var aspect: Double { Double(width) / Double(height) }

  /// The size after a rotation by this EXIF orientation. It is also the size before.
  package func rotated(_ orientation: Int) -> PixelSize { orientation > 4 ? PixelSize(height, width) : self }

  /// The size at which an upright picture of this size is shown. A smaller picture keeps its size.
  package func scaled(to frame: PictureFrame?) -> PixelSize {
    guard let frame else { return self }
    let (across, down) = (Double(frame.width) / Double(width), Double(frame.height) / Double(height))
    let scale = frame.covers ? max(across, down) : min(across, down)
    guard scale < 1 else { return self }
    var size = PixelSize(
      max(1, Int((Double(width) * scale).rounded())), max(1, Int((Double(height) * scale).rounded())))
    if !frame.covers { size = PixelSize(min(size.width, Int(frame.width)), min(size.height, Int(frame.height))) }
    return size
  }

  /// Whether both have the same shape, within this relative difference.
  package func hasShape(of other: PixelSize, within tolerance: Double) -> Bool {
    let ratio = aspect / other.aspect
    return ratio < 1 + tolerance && 1 / ratio < 1 + tolerance
  }

  /// - Throws: `tooLarge` if there are more pixels than the request allows.
  package func check(_ request: PictureRequest) throws(PictureError) {
    guard width > 0, height > 0 else { throw PictureError(.unreadable, "the picture is empty") }
    let (product, overflows) = UInt64(width).multipliedReportingOverflow(by: UInt64(height))
    guard !overflows, product <= request.maximumPixels else {
      throw PictureError(
        .tooLarge, "the picture has \(width) × \(height) pixels, and at most \(request.maximumPixels) are allowed")
    }
  }
}
