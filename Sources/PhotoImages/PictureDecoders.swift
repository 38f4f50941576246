import Dispatch
import ImageRecords
import Logging

/// Sends each file to the program that decodes it.
///
/// Immediate pictures have processes of their own, which are started when a session opens and stay while one is open. The
/// embedded pictures of JPEGs have a program of their own, because the first request of a session waits for its start:
/// it links a single decoder, and starts in 2 ms. All others come from photod-image, which takes 32 ms.
///
/// The processes that decode whole pictures have a lower priority, so that they delay neither those nor the user's
/// programs.
final class PictureDecoders: PictureMaker {
  /// How much higher the nice value of the processes that decode whole pictures is. Such a process gets a third of the
  /// time of another one.
  private static let niceness: Int32 = 5

  /// The media types of JPEGs.
  private static let previewTypes: Set = ["image/jpeg", "image/mpo"]

  let previews: PictureProcesses
  let immediateImages: PictureProcesses
  let images: PictureProcesses
  private let videos: PictureProcesses

  /// - Parameter immediateLimits: the limits of immediate pictures.
  init(
    images: PictureProgram, previews: PictureProgram, videos: PictureProgram,
    immediateLimits: PictureProcesses.Limits = .immediate, logger: Logger
  ) {
    // The processes of both start one after another, and those that are there sooner come first.
    let starting = DispatchQueue(label: "photod.picture-start")
    self.previews = PictureProcesses(
      program: previews, limits: immediateLimits, starting: starting, logger: logger)
    immediateImages = PictureProcesses(
      program: images, limits: immediateLimits, starting: starting, logger: logger)
    self.images = PictureProcesses(program: images, niceness: Self.niceness, logger: logger)
    self.videos = PictureProcesses(program: videos, niceness: Self.niceness, logger: logger)
  }

  func make(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking {
    make(request, from: descriptor, images)
  }

  func makeImmediately(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking {
    if request.kind == .embedded, request.format != .png, Self.previewTypes.contains(request.contentType) {
      switch previews.make(request, from: descriptor) {
      // The program shows none of these colours, or is not installed.
      case .failed(.unsupported, _), .unavailable(.unsupported, _): break
      case let made: return made
      }
    }
    return make(request, from: descriptor, immediateImages)
  }

  private func make(_ request: PictureRequest, from descriptor: Int32, _ images: PictureProcesses) -> PictureMaking {
    switch request.contentType.prefix(while: { $0 != "/" }) {
    case "video":
      // The cover picture of a video is none of its frames, so no process is started for it.
      guard request.kind == .rendered else {
        return .failed(.noEmbeddedPicture, message: "a video has no embedded picture")
      }
      return videos.make(request, from: descriptor)
    case "audio": return .failed(.unreadable, message: "the file is a sound recording, which has no picture")
    default: return images.make(request, from: descriptor)
    }
  }

  func keepReady(_ isReady: Bool) {
    for processes in [previews, immediateImages] {
      processes.keepReady(isReady ? ImageEngine.immediateThreadCount : 0)
    }
  }

  func shutDown() {
    previews.shutDown()
    immediateImages.shutDown()
    images.shutDown()
    videos.shutDown()
  }
}
