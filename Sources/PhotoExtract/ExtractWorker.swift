import CDescriptorPassing
import ExtractRecords
import Glibc
import Logging
import SystemErrors
import WatchRecords
import WorkerProcess

/// One running photod-extract. It is used by one thread at a time.
final class ExtractWorker: @unchecked Sendable {
  // The pool gives a worker to one caller at a time, so its variables need no lock.

  /// A message of the process, or its absence.
  enum Received {
    case reply(ExtractReply)
    case nothingYet
    /// The process ended, or sent something that is no reply.
    case failed(String)
  }

  /// The file system whose permit the process holds.
  var fileSystem: MediaSource.FileSystem?
  private let child: ChildProcess
  private let logger: Logger
  private var frames = ExtractStream.assembler()
  private var outgoing = ExtractStream.greeting
  /// The descriptors of the requests in `outgoing`.
  private var descriptors: [Int32] = []
  /// Whether the process is known to have started its work. Until then, no file is slow or to blame.
  var hasGreeted: Bool { frames.greeted }

  /// Whether the process has started its work. Its greeting counts, even if it was not received until now.
  func hasStarted() -> Bool {
    guard !frames.greeted else { return true }
    let count = recv(child.socket, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    frames.append(buffer[..<count])
    do {
      _ = try frames.next()
    } catch {
      return false
    }
    return frames.greeted
  }

  /// The requests that have no reply yet.
  private(set) var openRequests = 0
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  /// - Throws: `WorkerError`.
  init(executable: String, logger: Logger) throws {
    child = try ChildProcess(executable: executable)
    self.logger = logger
  }

  var processID: pid_t { child.processID }

  /// Adds the request for a file to those that ``send(until:)`` sends. At most `ExtractStream.mostRequests` may be without
  /// a reply.
  func request(_ source: MediaSource) {
    let isFetched: Bool
    switch source.bytes {
    case .descriptor(let descriptor):
      descriptors.append(descriptor)
      isFetched = false
    case .fetched: isFetched = true
    }
    ExtractStream.append(
      .file(name: source.name, byteCount: UInt64(clamping: source.byteCount), isFetched: isFetched), to: &outgoing)
    openRequests += 1
  }

  /// Sends the answer to a request of the process for bytes.
  /// - Returns: why the process can't be used any more, or nil.
  func sendBytes(_ bytes: MediaSource.FetchedBytes, until deadline: SuspendingClock.Instant) -> String? {
    switch bytes {
    case .bytes(let bytes):
      ExtractStream.append(.bytes(Array(bytes.prefix(ExtractRequest.maximumBytes)), errorNumber: 0), to: &outgoing)
    case .failed(let number): ExtractStream.append(.bytes([], errorNumber: number), to: &outgoing)
    }
    return send(until: deadline)
  }

  /// - Returns: why the process can't be used any more, or nil.
  func send(until deadline: SuspendingClock.Instant) -> String? {
    defer { descriptors.removeAll(keepingCapacity: true) }
    var done = 0
    while done < outgoing.count {
      let count = outgoing.withUnsafeBytes { bytes in
        descriptorpassing_send(
          child.socket, bytes.baseAddress! + done, bytes.count - done, descriptors, UInt32(descriptors.count))
      }
      if count >= 0 {
        done += count
        descriptors.removeAll(keepingCapacity: true)
      } else if errno == EAGAIN {
        guard wait(for: Int16(POLLOUT), until: deadline) else { return "it reads no requests" }
      } else if errno != EINTR {
        return "it reads no requests (\(errorText(errno)))"
      }
    }
    outgoing.removeAll(keepingCapacity: true)
    return nil
  }

  /// Waits for the next reply.
  func receive(until deadline: SuspendingClock.Instant) -> Received {
    while true {
      do {
        if let payload = try frames.next() {
          let reply = try ExtractReply(payload)
          if case .facts = reply { openRequests -= 1 }
          guard openRequests >= 0 else { return .failed("it sent a reply without a request") }
          return .reply(reply)
        }
      } catch {
        return .failed("it sent an invalid reply (\(error))")
      }
      let count = recv(child.socket, &buffer, buffer.count, 0)
      if count > 0 {
        frames.append(buffer[..<count])
      } else if count == 0 {
        return .failed("it ended")
      } else if errno == EAGAIN {
        guard wait(for: Int16(POLLIN), until: deadline) else { return .nothingYet }
      } else if errno != EINTR {
        return .failed("it can't be read (\(errorText(errno)))")
      }
    }
  }

  /// - Returns: false if the deadline has passed.
  private func wait(for events: Int16, until deadline: SuspendingClock.Instant) -> Bool {
    // The deadline may have passed while photod itself did not run. Messages that have arrived by then count.
    let left = max(deadline - SuspendingClock().now, .zero)
    let (seconds, attoseconds) = left.components
    let milliseconds = Int32(clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    var polled = pollfd(fd: child.socket, events: events, revents: 0)
    // After an error or an interruption, the next call on the socket finds out.
    return poll(&polled, 1, milliseconds) != 0 || SuspendingClock().now < deadline
  }

  /// The processor time that the process has used. nil if it is not known.
  var processorTime: Duration? {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(child.processID, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// The state of the process: running, or waiting for a processor; waiting for a disk; stopped by a signal or a
  /// debugger; or something else.
  enum ProcessState {
    case runnable, waitingForDisk, stopped, other
  }

  /// nil if the state can't be seen, for example under `ProtectProc=` of systemd.
  var processState: ProcessState? {
    let text = ProcessFile.read("/proc/\(child.processID)/stat")
    // The name of the program is in parentheses, and may contain anything.
    guard let end = text.lastIndex(of: UInt8(ascii: ")")), text.count > end + 2 else { return nil }
    switch text[end + 2] {
    case UInt8(ascii: "R"): return .runnable
    case UInt8(ascii: "D"): return .waitingForDisk
    case UInt8(ascii: "T"), UInt8(ascii: "t"): return .stopped
    default: return .other
    }
  }

  /// Ends the process, and reads the last lines of its standard error.
  ///
  /// - Parameter isKilled: whether it may be in the middle of a file.
  /// - Returns: how it ended. nil if it does not end although it was killed, because it waits for a disk.
  @discardableResult
  func end(isKilled: Bool) -> String? {
    if isKilled { kill(child.processID, SIGKILL) }
    return child.end(
      patience: .milliseconds(isKilled ? 100 : 300), kill: { kill($0, SIGKILL) }, beforeClosing: { logErrorLines() })
  }

  private func logErrorLines() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(child.standardError, &bytes, bytes.count)
    guard count > 0 else { return }
    let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").prefix(5)
    for line in lines { logger.warning("photod-extract says", metadata: ["line": "\(line.prefix(500))"]) }
  }
}

/// A small file of /proc.
private enum ProcessFile {
  static func read(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return count > 0 ? Array(bytes[..<count]) : []
  }
}
