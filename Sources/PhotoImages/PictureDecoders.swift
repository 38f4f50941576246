import ImageRecords
import Logging

/// Sends each file to the program that decodes it.
///
/// Immediate pictures have processes of their own, which are ready while a session is open: such a process takes 50 ms
/// to start, and an immediate picture 3 ms. The other processes have a lower priority, so that they delay neither those
/// nor the user's programs.
final class PictureDecoders: PictureMaker {
  /// How much higher the nice value of the processes that decode whole pictures is. Such a process gets a third of the
  /// time of another one.
  private static let niceness: Int32 = 5

  let immediateImages: PictureProcesses
  let images: PictureProcesses
  private let videos: PictureProcesses

  init(images: PictureProgram, videos: PictureProgram, logger: Logger) {
    immediateImages = PictureProcesses(program: images, logger: logger)
    self.images = PictureProcesses(program: images, niceness: Self.niceness, logger: logger)
    self.videos = PictureProcesses(program: videos, niceness: Self.niceness, logger: logger)
  }

  func make(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking {
    make(request, from: descriptor, images)
  }

  func makeImmediately(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking {
    make(request, from: descriptor, immediateImages)
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

  func keepReady(_ isReady: Bool) { immediateImages.keepReady(isReady ? ImageEngine.immediateThreadCount : 0) }

  func shutDown() {
    immediateImages.shutDown()
    images.shutDown()
    videos.shutDown()
  }
}
