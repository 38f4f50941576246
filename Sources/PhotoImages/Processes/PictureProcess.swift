import CDescriptorPassing
import Glibc
import ImageRecords
import Logging
import SystemErrors
import WatchRecords
import WorkerProcess

/// One running process of a program that decodes pictures. It is used by one thread at a time, so its variables need no lock.
final class PictureProcess: @unchecked Sendable {
  enum Outcome {
    case picture(ReceivedPicture)
    case failed(PictureFailure, message: String)
    /// The deadline has passed.
    case late
    /// The process ended, or sent something that is no reply.
    case broken(String)
  }

  /// The name of the program.
  private let name: String
  private let child: ChildProcess
  private let logger: Logger
  private var frames = ImageStream.assembler()
  private var greeting = ImageStream.greeting
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  /// - Parameter niceness: how much higher its nice value is than that of photod.
  /// - Throws: `WorkerError`.
  init(_ name: String, executable: String, niceness: Int32 = 0, logger: Logger) throws {
    self.name = name
    child = try ChildProcess(executable: executable)
    self.logger = logger
    // Without a lower priority, the process works as well.
    if niceness > 0 {
      let process = Int32(PRIO_PROCESS.rawValue)
      setpriority(process, id_t(child.processID), getpriority(process, 0) + niceness)
    }
  }

  var processID: pid_t { child.processID }
  /// Whether the process has started its work. Until then, no file is to blame.
  var hasGreeted: Bool { frames.greeted }

  /// Whether an idle process can be used: it has not ended, and has sent nothing without a request.
  var isReady: Bool {
    var byte: UInt8 = 0
    return recv(child.socket, &byte, 1, Int32(MSG_PEEK)) < 0 && errno == EAGAIN
  }

  /// Waits until the process has started its work.
  /// - Returns: false if it ended, or did not start within the limit.
  func waitForGreeting(within limit: Duration) -> Bool {
    var deadline = Deadline(limit)
    do {
      // A reply without a request is an error, so the greeting is all that can come.
      while try frames.next() == nil {
        if frames.greeted { return true }
        guard case .more = read(&deadline) else { return false }
      }
      return false
    } catch {
      return false
    }
  }

  /// Makes one picture.
  func make(_ request: PictureRequest, from descriptor: Int32, within limit: Duration) -> Outcome {
    var deadline = Deadline(limit)
    if let outcome = send(request, descriptor, &deadline) { return outcome }
    switch receive(&deadline) {
    case .reply(.failed(let failure, let message)): return .failed(failure, message: message)
    case .reply(.begins(let contentType, let width, let height, let byteCount, let isDegraded)):
      guard byteCount <= request.maximumBytes else { return .broken("it sent a picture of \(byteCount) bytes") }
      guard Self.isInside(width, height, request.frame) else {
        return .broken("it sent a picture of \(width) × \(height) pixels")
      }
      return receivePicture(
        Int(byteCount), contentType, ImageFrame(width: Int(width), height: Int(height)), isDegraded, &deadline)
    case .reply(.bytes): return .broken("it sent bytes of no picture")
    case .ended(let outcome): return outcome
    }
  }

  /// Ends the process, and reads the last lines of its standard error.
  /// - Returns: how it ended. Nil if it does not end although it was killed, because it waits for a disk.
  func end(isKilled: Bool) -> String? {
    if isKilled { kill(child.processID, SIGKILL) }
    return child.end(
      patience: .milliseconds(isKilled ? 100 : 300), kill: { kill($0, SIGKILL) }, beforeClosing: { logErrorLines() })
  }

  /// R, D, T and so on, as in proc(5). Nil if the state can't be seen.
  var processState: UInt8? {
    let descriptor = open("/proc/\(child.processID)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let text = FileReading.bytes(of: descriptor, offset: 0, count: 512)
    // The name of the program is in parentheses, and may contain anything.
    guard let end = text.lastIndex(of: UInt8(ascii: ")")), text.count > end + 2 else { return nil }
    return text[end + 2]
  }

  // MARK: - Private

  /// The end of a request's time, by a clock that stops while the machine is suspended.
  private struct Deadline {
    let limit: Duration
    var end: SuspendingClock.Instant

    init(_ limit: Duration) {
      self.limit = limit
      end = SuspendingClock().now + limit
    }
  }

  private enum Received {
    case reply(ImageReply)
    case ended(Outcome)
  }

  /// The program is not trusted: a picture must be as large as its request allows. One pixel may come from rounding.
  private static func isInside(_ width: UInt32, _ height: UInt32, _ frame: PictureFrame?) -> Bool {
    guard (1...65_535).contains(width), (1...65_535).contains(height) else { return false }
    guard let frame else { return true }
    let isWithin = width <= frame.width + 1 && height <= frame.height + 1
    return isWithin || (frame.covers && (width <= frame.width + 1 || height <= frame.height + 1))
  }

  private func send(_ request: PictureRequest, _ descriptor: Int32, _ deadline: inout Deadline) -> Outcome? {
    var bytes = greeting
    greeting = []
    ImageStream.append(request, to: &bytes)
    var descriptors = [descriptor]
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        descriptorpassing_send(
          child.socket, $0.baseAddress! + done, $0.count - done, descriptors, UInt32(descriptors.count))
      }
      if count >= 0 {
        done += count
        descriptors = []
      } else if errno == EAGAIN {
        guard wait(for: Int16(POLLOUT), &deadline) else { return .late }
      } else if errno != EINTR {
        return .broken("it reads no requests (\(errorText(errno)))")
      }
    }
    return nil
  }

  private func receivePicture(
    _ byteCount: Int, _ contentType: String, _ size: ImageFrame, _ isDegraded: Bool, _ deadline: inout Deadline
  ) -> Outcome {
    var bytes: [UInt8] = []
    // The count is not trusted, so memory is taken when bytes arrive.
    bytes.reserveCapacity(min(byteCount, 1 << 20))
    while bytes.count < byteCount {
      switch receive(&deadline) {
      case .reply(.bytes(let piece)):
        guard !piece.isEmpty, bytes.count + piece.count <= byteCount else {
          return .broken("it sent more bytes than it promised")
        }
        bytes += piece
      case .reply: return .broken("it sent another reply inside a picture")
      case .ended(let outcome): return outcome
      }
    }
    guard let header = PictureHeader(bytes[...]), header.contentType == contentType, header.size == size,
      PictureHeader.hasEnd(bytes[...], isPNG: header.isPNG)
    else { return .broken("it sent a picture that is none") }
    return .picture(ReceivedPicture(bytes: bytes, header: header, isDegraded: isDegraded))
  }

  private func receive(_ deadline: inout Deadline) -> Received {
    while true {
      do {
        if let payload = try frames.next() { return .reply(try ImageReply(payload)) }
      } catch {
        return .ended(.broken("it sent an invalid reply (\(error))"))
      }
      if case .ended(let outcome) = read(&deadline) { return .ended(outcome) }
    }
  }

  private enum Reading {
    case more
    case ended(Outcome)
  }

  /// Waits for bytes of the process, and takes them.
  private func read(_ deadline: inout Deadline) -> Reading {
    while true {
      let count = recv(child.socket, &buffer, buffer.count, 0)
      if count > 0 {
        frames.append(buffer[..<count])
        return .more
      } else if count == 0 {
        return .ended(.broken("it ended"))
      } else if errno == EAGAIN {
        guard wait(for: Int16(POLLIN), &deadline) else { return .ended(.late) }
      } else if errno != EINTR {
        return .ended(.broken("it can't be read (\(errorText(errno)))"))
      }
    }
  }

  /// - Returns: false if the deadline has passed.
  private func wait(for events: Int16, _ deadline: inout Deadline) -> Bool {
    let left = max(deadline.end - SuspendingClock().now, .zero)
    let (seconds, attoseconds) = left.components
    let milliseconds = Int32(clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    var polled = pollfd(fd: child.socket, events: events, revents: 0)
    // After an error or an interruption, the next call on the socket finds out.
    if poll(&polled, 1, milliseconds) != 0 { return true }
    let excess = SuspendingClock().now - deadline.end
    if excess > .seconds(1) {
      // photod itself did not run, for example in a frozen cgroup, and neither did the process.
      deadline = Deadline(deadline.limit)
      return true
    }
    return excess < .zero
  }

  private func logErrorLines() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(child.standardError, &bytes, bytes.count)
    guard count > 0 else { return }
    let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").prefix(5)
    for line in lines {
      logger.warning("a decoder says", metadata: ["program": "\(name)", "line": "\(line.prefix(500))"])
    }
  }
}
