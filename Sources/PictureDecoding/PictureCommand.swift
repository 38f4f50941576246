// SPDX-License-Identifier: GPL-2.0-or-later

import CDescriptorPassing
import Glibc
import ImageRecords
import SystemErrors
import WatchRecords

/// Makes one picture when a person runs photod-image, photod-preview or photod-video in a shell. The file is decoded by
/// another process of this program, which gives up its rights.
struct PictureCommand {
  /// The name of the program.
  let program: String
  var path = ""
  var output = ""
  /// The longer side, in pixels. Nil means the picture's own size.
  var size: UInt32?
  /// The time of a video's frame.
  var atMilliseconds: UInt64?
  var isEmbedded = false

  init(program: String) { self.program = program }

  /// - Returns: the exit status: 0 if the picture was made, 65 (EX_DATAERR) if none can be made of the file.
  func run() throws(DecoderStartError) -> Int32 {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw DecoderStartError(message: "\(path) can't be opened: \(errorText(errno))") }
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw DecoderStartError(message: "no socket pair can be made: \(errorText(errno))")
    }
    let child = try start(socket: pair[1])
    close(pair[1])
    let (failure, bytes) = try requestPicture(pair[0], descriptor)
    close(pair[0])
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    if let failure {
      complain("\(path): \(failure)")
      return 65
    }
    let file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw DecoderStartError(message: "\(output) can't be written: \(errorText(errno))") }
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { write(file, $0.baseAddress! + done, $0.count - done) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { break }
      done += count
    }
    let writeError = done < bytes.count ? errno : 0
    // Some file systems report a failed write only here.
    let isClosed = close(file) == 0
    guard writeError == 0, isClosed else {
      throw DecoderStartError(message: "\(output) can't be written: \(errorText(writeError == 0 ? errno : writeError))")
    }
    return 0
  }

  /// Starts this program again, with the socket as descriptor 3.
  private func start(socket: Int32) throws(DecoderStartError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, socket, 3)
    let arguments: [String] = [program, "--fd", "3"]
    var words = arguments.map { strdup($0) }
    defer { for word in words { free(word) } }
    words.append(nil)
    var child: pid_t = 0
    let number = posix_spawn(&child, "/proc/self/exe", &actions, nil, &words, environ)
    guard number == 0 else { throw DecoderStartError(message: "no process can be started: \(errorText(number))") }
    return child
  }

  /// Sends the request, and reads its answer.
  /// - Returns: the reason why there is no picture, or its bytes.
  private func requestPicture(_ socket: Int32, _ descriptor: Int32) throws(DecoderStartError) -> (
    failure: String?, bytes: [UInt8]
  ) {
    let name = Array(path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed())
    let frame = size.map { PictureFrame(width: $0, height: $0) }
    let request = PictureRequest(
      name: name, contentType: Self.contentType(name), kind: isEmbedded ? .embedded : .rendered, frame: frame,
      atMilliseconds: atMilliseconds, maximumPixels: 300_000_000, maximumBytes: 1 << 30)
    var outgoing = ImageStream.greeting
    ImageStream.append(request, to: &outgoing)
    guard descriptorpassing_send(socket, outgoing, outgoing.count, [descriptor], 1) == outgoing.count else {
      throw DecoderStartError(message: "the request can't be sent: \(errorText(errno))")
    }
    var frames = ImageStream.assembler()
    var bytes: [UInt8] = []
    /// The number of bytes that the decoder announced.
    var expected: Int?
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    do {
      while bytes.count != expected {
        while let payload = try frames.next() {
          switch try ImageReply(payload) {
          case .begins(_, _, _, let byteCount, _): expected = Int(clamping: byteCount)
          case .bytes(let part):
            bytes += part
            // It reads files of any origin, so what it sends may be wrong, too.
            guard bytes.count <= expected ?? 0 else { return ("the decoder sent more bytes than it announced", []) }
          case .failed(let failure, let message): return ("\(failure): \(message)", [])
          }
        }
        guard bytes.count != expected else { break }
        let count = recv(socket, &buffer, buffer.count, 0)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return ("the decoder ended", []) }
        frames.append(buffer[..<count])
      }
    } catch {
      throw DecoderStartError(message: "the decoder sent an invalid reply: \(error)")
    }
    return (nil, bytes)
  }

  /// A media type from the extension. photod sends the media type of its catalog, but this command has no catalog. The
  /// decoder uses it to distinguish RAW files from TIFF.
  private static func contentType(_ name: [UInt8]) -> String {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "" }
    let ending = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
    switch ending {
    case "tif", "tiff": return "image/tiff"
    case "bmp", "dib": return "image/bmp"
    case "jpg", "jpeg", "png", "webp", "heic", "heif", "hif", "avif", "gif", "psd", "psb", "jxl", "jp2":
      return "image/\(ending)"
    default: return ending.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? "image/x-raw-\(ending)" : ""
    }
  }
}
