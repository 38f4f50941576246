/// The size of a picture that is to be made.
enum PictureTarget: Hashable, Sendable {
  /// This many pixels on the longer side, or the picture's own size if that is smaller.
  case kept(Int)
  /// The picture's own size.
  case original
  /// The size at which the picture fits into a frame, or covers it.
  case exact(ImageFrame, covers: Bool)

  /// The lengths of the longer side, in pixels, at which pictures are kept in the cache.
  static let keptSizes = [128, 256, 512, 1024, 2048]

  /// The target of a request.
  ///
  /// - Parameter pixelSize: the size of the upright picture, or of a smaller form of it, because only the aspect ratio
  ///   matters. If the size is not known and the picture is to cover the frame, its ratio is taken for 3:2.
  init(_ options: ImageOptions, pixelSize: ImageFrame?) {
    guard let frame = options.frame else {
      self = .original
      return
    }
    let covers = options.contentMode == .aspectFill
    let side = Self.longerSide(of: pixelSize, frame, covers: covers)
    let kept = Self.keptSizes.first { $0 >= side }
    switch options.resize {
    case .fast: self = kept.map { .kept($0) } ?? .original
    case .exact:
      // A picture that is to fit into a square frame of a kept size has exactly that kept size.
      self = !covers && frame.width == frame.height && kept == side ? .kept(side) : .exact(frame, covers: covers)
    }
  }

  /// The longer side of a picture in a frame, rounded up.
  static func longerSide(of pixelSize: ImageFrame?, _ frame: ImageFrame, covers: Bool) -> Int {
    guard let pixelSize, pixelSize.width > 0, pixelSize.height > 0 else {
      return covers ? (3 * max(frame.width, frame.height) + 1) / 2 : max(frame.width, frame.height)
    }
    let scales = (
      Double(frame.width) / Double(pixelSize.width), Double(frame.height) / Double(pixelSize.height)
    )
    let scale = covers ? max(scales.0, scales.1) : min(scales.0, scales.1)
    return Int((scale * Double(max(pixelSize.width, pixelSize.height)) - 0.001).rounded(.up))
  }

  /// Whether a picture of this size is large enough for a request. A picture whose longer side is below a kept size has
  /// the size of the original, so it is always large enough.
  func isMet(by size: ImageFrame, _ options: ImageOptions) -> Bool {
    guard case .kept(let kept) = self, let frame = options.frame else { return true }
    let longer = max(size.width, size.height)
    guard longer >= kept else { return true }
    // One pixel may be lost when the sides are rounded.
    return Self.longerSide(of: size, frame, covers: options.contentMode == .aspectFill) <= longer + 1
  }
}
