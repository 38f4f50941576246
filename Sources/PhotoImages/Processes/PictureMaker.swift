import ImageRecords

/// Makes pictures of files. The real one does it in processes without rights (``PictureProcesses``).
protocol PictureMaker: Sendable {
  /// Makes one picture, and blocks until it is there or a deadline has passed.
  ///
  /// - Parameter descriptor: open for reading. It stays open until the call returns, and its offset does not move.
  func make(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking

  /// Does the same for a small picture that a program waits for. It never waits for a picture of ``make(_:from:)``.
  func makeImmediately(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking

  /// Sets whether ``makeImmediately(_:from:)`` will be called soon, so that no call waits for the start of a process.
  /// It returns at once.
  func keepReady(_ isReady: Bool)

  /// Ends all processes. Calls that run return soon.
  func shutDown()
}

extension PictureMaker {
  func makeImmediately(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking {
    make(request, from: descriptor)
  }

  func keepReady(_ isReady: Bool) {}
}

enum PictureMaking: Sendable {
  case picture(ReceivedPicture)
  /// The decoder refused the file, or could not read it.
  case failed(PictureFailure, message: String)
  /// The file is to blame: it ended the decoder twice, or took too long.
  case blamed(String)
  /// The time for an immediate picture is over. The file may be all right.
  case late(String)
  /// The file is not to blame. For example, the decoder is not installed.
  case unavailable(PictureFailureKind, String)
}

struct ReceivedPicture: Sendable {
  var bytes: [UInt8]
  var header: PictureHeader
  /// Whether the file could give a larger picture for the same frame.
  var isDegraded: Bool
}
