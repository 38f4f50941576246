import CDescriptorPassing
import Foundation
import Glibc
import ImageRecords
import TestTools
import Testing
import WatchRecords
import WorkerProcess

/// A process of a built decoder, as photod uses it.
final class ImageProcess {
  enum Outcome {
    case picture(contentType: String, width: Int, height: Int, isDegraded: Bool, bytes: [UInt8])
    case failed(PictureFailure, String)
    /// The process ended.
    case ended(String)

    var bytes: [UInt8]? {
      if case .picture(_, _, _, _, let bytes) = self { return bytes }
      return nil
    }
    var failure: PictureFailure? {
      if case .failed(let failure, _) = self { return failure }
      return nil
    }
    var hasEnded: Bool {
      if case .ended = self { return true }
      return false
    }
  }

  private let child: ChildProcess
  private var frames = ImageStream.assembler()

  init(_ program: String = "photod-image") throws {
    child = try ChildProcess(executable: BuiltPrograms.path(program))
    try send(ImageStream.greeting, [])
  }

  deinit { _ = child.end(patience: .milliseconds(500), kill: { kill($0, SIGKILL) }, beforeClosing: {}) }

  /// The limits of the process, as the kernel lists them. They are set before the process reads the first request.
  func limits() throws -> String { try String(contentsOfFile: "/proc/\(child.processID)/limits", encoding: .utf8) }

  /// The most memory that the process has used, in bytes.
  var peakMemory: Int? {
    let status = try? String(contentsOfFile: "/proc/\(child.processID)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
  }

  /// - Parameter access: how the file is opened.
  func picture(_ path: String, _ request: PictureRequest, access: Int32 = O_RDONLY) throws -> Outcome {
    let descriptor = open(path, access | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemCallError("open \(path)") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    ImageStream.append(request, to: &bytes)
    do { try send(bytes, [descriptor]) } catch { return .ended("\(error)") }
    return try receive()
  }

  /// The picture of a file with this content.
  func picture(of content: [UInt8], in folder: TemporaryFolder, _ request: PictureRequest) throws -> Outcome {
    let path = folder.path + "/file"
    try Data(content).write(to: URL(fileURLWithPath: path))
    return try picture(path, request)
  }

  /// The same picture, which must be a PNG, as pixels.
  func raster(of content: [UInt8], in folder: TemporaryFolder, _ request: PictureRequest) throws -> Raster {
    let outcome = try picture(of: content, in: folder, request)
    return try Raster(png: try #require(outcome.bytes, "\(outcome)"))
  }

  private func send(_ bytes: [UInt8], _ descriptors: [Int32]) throws {
    let count = descriptorpassing_send(
      child.socket, bytes, bytes.count, descriptors, UInt32(descriptors.count))
    guard count == bytes.count else { throw SystemCallError("sendmsg") }
  }

  private func receive() throws -> Outcome {
    var (head, bytes): (ImageReply?, [UInt8]) = (nil, [])
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      while let payload = try frames.next() {
        switch try ImageReply(payload) {
        case .failed(let failure, let message): return .failed(failure, message)
        case .bytes(let part): bytes += part
        case let reply: head = reply
        }
        if case .begins(let contentType, let width, let height, let byteCount, let isDegraded) = head,
          bytes.count == Int(byteCount)
        {
          return .picture(
            contentType: contentType, width: Int(width), height: Int(height), isDegraded: isDegraded, bytes: bytes)
        }
      }
      var polled = pollfd(fd: child.socket, events: Int16(POLLIN), revents: 0)
      guard poll(&polled, 1, 60_000) > 0 else { return .ended("no reply came") }
      let count = recv(child.socket, &buffer, buffer.count, 0)
      guard count > 0 else { return .ended("the socket was closed") }
      frames.append(buffer[..<count])
    }
  }
}

extension PictureRequest {
  /// A request of a test.
  static func test(
    _ kind: PictureKind = .rendered, size: UInt32? = 256, covers: Bool = false, format: PictureFormat = .automatic,
    contentType: String = "", orientation: UInt8 = 0, atMilliseconds: UInt64? = nil,
    maximumPixels: UInt64 = 300_000_000,
    maximumBytes: UInt64 = 1 << 28
  ) -> PictureRequest {
    PictureRequest(
      name: [], contentType: contentType, kind: kind,
      frame: size.map { PictureFrame(width: $0, height: $0, covers: covers) }, format: format,
      orientation: orientation, atMilliseconds: atMilliseconds, maximumPixels: maximumPixels, maximumBytes: maximumBytes
    )
  }
}
