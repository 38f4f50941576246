import PhotoModel

/// The facts in the headers of a video file.
struct VideoHeader {
  /// As displayed: cropped, and with square pixels if the container says so.
  var width: Int?
  var height: Int?
  var durationSeconds: Double?
  var date: PhotoDate?
  var location: Location?
  var title: String?
  var caption: String?
  var camera = Camera()
  /// The position of a TIFF structure in the file.
  var exif: FilePart?
  /// The position of an XMP packet in the file.
  var xmp: FilePart?
  var hasVideo = false
  var hasAudio = false

  mutating func setSize(_ width: Int, _ height: Int) {
    if width > 0, height > 0, width <= Self.largestSide, height <= Self.largestSide {
      (self.width, self.height) = (width, height)
    }
  }

  /// A duration is above zero. One of more than a year is damage.
  mutating func setDuration(_ seconds: Double) {
    if seconds.isFinite, seconds > 0, seconds < 31_536_000 { durationSeconds = seconds }
  }

  static let largestSide = 1 << 20
}
