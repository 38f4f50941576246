import Glibc
import ImageRecords
import PhotoContract

// The thumbnails of the freedesktop.org standard as immediate pictures.
extension ImageEngine {
  /// A valid thumbnail of the file, whichever program has written it. One that photod wrote of another revision is not
  /// valid, because it shows an old picture. Another program may have written it, so photod-image decodes it: a client
  /// gets the pixels only, in sRGB and without metadata.
  ///
  /// - Parameter mustSuffice: whether a thumbnail that is smaller than the request asks counts as none.
  func sharedThumbnail(_ plan: PicturePlan, _ demand: DemandKey, mustSuffice: Bool) -> Outcome? {
    guard let folder = sharedThumbnails?.folder, mayMakeImmediate(plan, demand) else { return nil }
    let wanted = min(plan.longerSide, plan.photoSide ?? .max)
    // The smallest one that suffices, else the largest one that there is.
    let sizes = mustSuffice ? ThumbnailSize.allCases.filter { $0.side >= wanted } : ThumbnailSize.allCases.reversed()
    for size in sizes {
      guard knownFailure(plan, .shared(size)) == nil,
        let thumbnail = folder.openValid(size, of: plan.file, plan.asset)
      else { continue }
      defer { Glibc.close(thumbnail.descriptor) }
      let suffices = max(thumbnail.size.width, thumbnail.size.height) >= wanted
      guard suffices || !mustSuffice else { continue }
      let side = UInt32(min(plan.longerSide, size.side))
      var request = request(
        plan, .rendered, frame: PictureFrame(width: side, height: side), maximumBytes: ImageLimits.maximumInlineBytes)
      request.contentType = "image/png"
      // A thumbnail is upright.
      request.orientation = 1
      // The facts in the thumbnail name the content that it shows.
      let made = makeImmediate(.shared(size), request, from: thumbnail.descriptor, plan, isUnchanged: { true })
      return made.map {
        .made(
          $0, revision: plan.asset.revision, isDegraded: !suffices || demand.options.delivery == .opportunistic)
      }
    }
    return nil
  }
}

extension PicturePlan {
  /// The longer side of the photo in pixels. Nil if it is not known.
  fileprivate var photoSide: Int? {
    file.index == 0 ? asset.pixelSize.map { max($0.width, $0.height) } : nil
  }
}
