import Glibc
import Logging

package struct ImageConfiguration: Sendable {
  /// The folder for kept pictures. It is made if it is not there.
  package var cacheDirectory: String
  /// The UUID of the library. Libraries with different catalogs may use the same folder.
  package var library: String
  /// The most bytes of kept pictures. Pictures that were sent in the last 60 s, or that caching sets hold, stay.
  package var maximumBytes: Int64 = 2 << 30
  package var imageProgram = PictureProgram.image
  package var previewProgram = PictureProgram.preview
  package var videoProgram = PictureProgram.video
  /// How many pictures are decoded at a time.
  package var workers: Int
  /// A picture with more pixels is refused.
  package var maximumPixels: Int64 = 300_000_000
  /// The thumbnails that all programs of the user share. Nil means that they are neither read nor written.
  package var sharedThumbnails: SharedThumbnailConfiguration?
  package var logger: Logger
  /// Tests set another clock.
  package var clock = ImageClock.monotonic()

  package init(
    cacheDirectory: String, library: String, maximumBytes: Int64 = 2 << 30,
    workers: Int = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))),
    sharedThumbnails: SharedThumbnailConfiguration? = nil, logger: Logger
  ) {
    self.cacheDirectory = cacheDirectory
    self.library = library
    self.maximumBytes = maximumBytes
    self.workers = workers
    self.sharedThumbnails = sharedThumbnails
    self.logger = logger
  }
}

/// The folder of thumbnails that all programs of the user share. Its thumbnails are read in any case.
package struct SharedThumbnailConfiguration: Sendable {
  /// `thumbnails` in the user's cache folder. It is made if a thumbnail is written.
  package var folder: String
  /// Whether photod writes thumbnails of the pictures that it makes.
  package var isWriting: Bool
  /// The version of photod, which is a part of the names of failures.
  package var version: String
  /// It is called after each change of a thumbnail or of its record. For tests, which copy the disk after each step, as
  /// a photod that is killed then would leave it.
  package var onChange: @Sendable () -> Void = {}

  package init(folder: String, isWriting: Bool, version: String) {
    self.folder = folder
    self.isWriting = isWriting
    self.version = version
  }
}

/// The clock of the store: seconds since 1970 when photod started, and monotonic from then on. Times of an earlier run
/// can be compared with it. A change of the wall clock does not shorten the life of a path that was sent.
package struct ImageClock: Sendable {
  package var seconds: @Sendable () -> UInt32

  package init(seconds: @escaping @Sendable () -> UInt32) { self.seconds = seconds }

  package static func monotonic() -> ImageClock {
    let start = time(nil)
    let begun = ContinuousClock.now
    return ImageClock { UInt32(clamping: Int64(start) + (ContinuousClock.now - begun).components.seconds) }
  }
}
