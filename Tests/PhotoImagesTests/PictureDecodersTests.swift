import Dispatch
import Glibc
import ImageRecords
import Logging
import TestTools
import Testing

@testable import PhotoImages

/// The program that each file goes to.
@Suite(.enabled(if: ScriptedDecoder.hasPython, "/usr/bin/python3 is not installed")) struct PictureDecodersTests {
  private let folder: TemporaryFolder
  private let decoders: PictureDecoders

  init() throws {
    folder = try TemporaryFolder("decoders")
    // photod-image is missing here, and photod-video works.
    var videos = PictureProgram.video
    videos.executable = { [path = try ScriptedDecoder.install(in: folder.path)] in path }
    decoders = PictureDecoders(
      images: .test("/bin/none"), previews: .test("/bin/none"), videos: videos, logger: Logger(label: "test"))
  }

  private func request(
    _ contentType: String, _ kind: PictureKind = .rendered, _ format: PictureFormat = .automatic
  ) -> PictureRequest {
    PictureRequest(
      name: Array("file".utf8), contentType: contentType, kind: kind, frame: PictureFrame(width: 256, height: 256),
      format: format, maximumPixels: 1 << 30, maximumBytes: 1 << 30)
  }

  private func make(_ contentType: String, _ kind: PictureKind = .rendered) -> PictureMaking {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    return decoders.make(request(contentType, kind), from: descriptor)
  }

  @Test(arguments: ["video/mp4", "video/quicktime", "video/x-matroska"]) func videoGoesToPhotodVideo(_ type: String) {
    defer { decoders.shutDown() }
    guard case .picture(let picture) = make(type) else {
      Issue.record("there is no picture")
      return
    }
    #expect(picture.header.size == ImageFrame(width: 60, height: 40))
    guard case .failed(.noEmbeddedPicture, _) = make(type, .embedded) else {
      Issue.record("the cover picture of a video was made")
      return
    }
  }

  @Test(arguments: ["image/jpeg", "image/gif", "image/x-raw-cr2", ""]) func otherFilesGoToPhotodImage(_ type: String) {
    defer { decoders.shutDown() }
    guard case .unavailable(.unsupported, let message) = make(type) else {
      Issue.record("photod-image is not there")
      return
    }
    #expect(message.contains("/bin/none"))
  }

  /// An immediate picture has a process of its own, which was started before and waits for no other picture.
  @Test func immediatePictureIsMadeWhileTheOthersHang() async throws {
    let path = try ScriptedDecoder.install(in: folder.path)
    let decoders = PictureDecoders(
      images: .test(path), previews: .test(path), videos: .test(path), logger: Logger(label: "test"))
    @Sendable func request(_ name: String, _ kind: PictureKind) -> PictureRequest {
      PictureRequest(
        name: Array(name.utf8), contentType: "image/jpeg", kind: kind, frame: PictureFrame(width: 256, height: 256),
        maximumPixels: 1 << 30, maximumBytes: 1 << 30)
    }
    decoders.keepReady(true)
    try await eventually("the ready processes") {
      [decoders.previews, decoders.immediateImages].allSatisfy {
        $0.readyIDs.count == ImageEngine.immediateThreadCount
      }
    }
    let ready = decoders.previews.readyIDs
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    // It blocks its thread. A thread of the tasks would be missing to all other tests.
    async let hanging: Void = withCheckedContinuation { ended in
      DispatchQueue(label: "photod.test").async {
        _ = decoders.make(request("hang", .rendered), from: descriptor)
        ended.resume()
      }
    }
    try await eventually("a process that hangs") { decoders.images.processIDs.count == 1 }
    let others = decoders.images.processIDs
    let making = decoders.makeImmediately(request("a", .embedded), from: descriptor)
    if case .picture = making {} else { Issue.record("there is no picture: \(making)") }
    #expect(decoders.previews.readyIDs == ready, "a process that was ready made the picture")
    #expect(decoders.images.processIDs == others && decoders.images.readyIDs.isEmpty, "the other one hangs")
    let kind = Int32(PRIO_PROCESS.rawValue)
    #expect(ready.allSatisfy { getpriority(kind, id_t($0)) == getpriority(kind, 0) })
    decoders.shutDown()
    await hanging
  }

  @Test func embeddedPictureOfAJPEGComesFromPhotodPreview() throws {
    let path = try ScriptedDecoder.install(in: folder.path)
    let decoders = PictureDecoders(
      images: .test("/bin/none"), previews: .test(path), videos: .test("/bin/none"), immediateLimits: .init(),
      logger: Logger(label: "test"))
    defer { decoders.shutDown() }
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    for type in ["image/jpeg", "image/mpo"] {
      let making = decoders.makeImmediately(request(type, .embedded), from: descriptor)
      if case .picture = making {} else { Issue.record("\(type): \(making)") }
    }
    for other in [request("image/heic", .embedded), request("image/jpeg", .embedded, .png), request("image/jpeg")] {
      let making = decoders.makeImmediately(other, from: descriptor)
      if case .unavailable(.unsupported, _) = making {} else { Issue.record("\(other): \(making)") }
    }
  }

  /// A preview in CMYK, for example. The file of this test is no JPEG at all.
  @Test(arguments: [true, false]) func photodImageMakesWhatPhotodPreviewCannot(isInstalled: Bool) throws {
    let path = try ScriptedDecoder.install(in: folder.path)
    let preview = isInstalled ? BuiltPrograms.path("photod-preview") : "/bin/none"
    let decoders = PictureDecoders(
      images: .test(path), previews: .test(preview), videos: .test("/bin/none"), immediateLimits: .init(),
      logger: Logger(label: "test"))
    defer { decoders.shutDown() }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let making = decoders.makeImmediately(request("image/jpeg", .embedded), from: descriptor)
    if case .picture(let picture) = making {
      #expect(picture.header.size == ImageFrame(width: 60, height: 40))
    } else {
      Issue.record("\(making)")
    }
    #expect(decoders.previews.processIDs.count == (isInstalled ? 1 : 0))
  }

  @Test func soundHasNoPicture() {
    guard case .failed(.unreadable, let message) = make("audio/mp4") else {
      Issue.record("a sound recording has a picture")
      return
    }
    #expect(message.contains("sound"))
  }
}
