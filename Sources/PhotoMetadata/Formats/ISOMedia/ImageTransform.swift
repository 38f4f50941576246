/// The turns and mirrors of a HEIF image (ISO/IEC 23008-12, 6.5.10 and 6.5.12), as one of the eight orientations of
/// EXIF.
///
/// The properties apply in the order in which they are associated with the item.
struct ImageTransform: Equatable {
  // The image of the point (x, y) is (xx * x + xy * y, yx * x + yy * y), with y pointing down.
  private var xx = 1
  private var xy = 0
  private var yx = 0
  private var yy = 1

  /// Turns by `steps` times 90 degrees anti-clockwise: `irot`.
  mutating func turn(_ steps: Int) {
    for _ in 0..<(steps & 3) { (xx, xy, yx, yy) = (yx, yy, -xx, -xy) }
  }

  /// Exchanges left and right (axis 1) or top and bottom (axis 0): `imir`.
  mutating func mirror(axis: Int) {
    if axis & 1 == 1 { (xx, xy) = (-xx, -xy) } else { (yx, yy) = (-yx, -yy) }
  }

  /// Whether width and height are exchanged.
  var isTurned: Bool { xx == 0 }

  /// 1...8 (EXIF 2.32, 4.6.4.A)
  var orientation: Int {
    switch (xx, xy, yx, yy) {
    case (1, _, _, 1): 1
    case (-1, _, _, 1): 2
    case (-1, _, _, -1): 3
    case (1, _, _, -1): 4
    case (_, 1, 1, _): 5
    case (_, -1, 1, _): 6
    case (_, -1, -1, _): 7
    default: 8
    }
  }
}
