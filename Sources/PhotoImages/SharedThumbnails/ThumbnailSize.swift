/// The sizes of shared thumbnails. A thumbnail fits into a square of this size.
enum ThumbnailSize: Int, CaseIterable, Sendable {
  case normal = 128
  case large = 256
  case extraLarge = 512
  case extraExtraLarge = 1024

  var side: Int { rawValue }

  var folder: String {
    switch self {
    case .normal: "normal"
    case .large: "large"
    case .extraLarge: "x-large"
    case .extraExtraLarge: "xx-large"
    }
  }

  /// The sizes that can be made of a picture. No picture is enlarged. A whole photo is a thumbnail of the next larger size too,
  /// with the pixels that it has.
  ///
  /// - Parameter isWholePhoto: whether the picture has as many pixels as the photo.
  static func sizes(of picture: ImageFrame, isWholePhoto: Bool) -> [ThumbnailSize] {
    let longer = max(picture.width, picture.height)
    let smaller = allCases.filter { $0.side <= longer }
    let next = isWholePhoto && smaller.last?.side != longer ? allCases.first { $0.side > longer } : nil
    return smaller + (next.map { [$0] } ?? [])
  }
}
