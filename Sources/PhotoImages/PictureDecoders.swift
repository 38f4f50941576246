import ImageRecords
import Logging

/// Sends each file to the program that decodes it.
final class PictureDecoders: PictureMaker {
  private let images: PictureProcesses
  private let videos: PictureProcesses

  init(images: PictureProgram, videos: PictureProgram, logger: Logger) {
    self.images = PictureProcesses(program: images, logger: logger)
    self.videos = PictureProcesses(program: videos, logger: logger)
  }

  func make(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking {
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

  func shutDown() {
    images.shutDown()
    videos.shutDown()
  }
}
