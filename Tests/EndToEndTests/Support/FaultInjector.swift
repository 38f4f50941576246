import Foundation
import Glibc
import PhotoTestSupport
import Synchronization
import TestTools
import Testing

/// Makes chosen calls of a program fail. It shares a page with Tests/Faults/faults.c, which is preloaded into the
/// program.
///
/// Only one fault is armed at a time. A new one replaces it.
final class FaultInjector {
  /// The classes of calls, with the numbers of faults.c.
  enum Call: UInt32, CaseIterable, Sendable {
    case open = 1
    case read, stat, write, sync
    /// Data that is sent to clients.
    case socket
    /// Data that photod and photod-watch send each other, and bytes that wake a thread.
    case pair
    case map, rename, unlink, list, watch, accept, spawn, lock, socketpair
  }

  // The offsets of the fields of `struct control`.
  private static let (error, first, last, calls, fired, prefix, firstCall) = (4, 8, 16, 24, 32, 40, 1064)
  private static let byteCount = 2088

  private let page: UnsafeMutableRawPointer
  private let path: String
  private let program: String

  /// - Parameters:
  ///   - directory: the directory for the page's file.
  ///   - program: the name of the program. Other programs with this ``environment`` are not affected.
  init(directory: String, program: String) throws {
    path = directory + "/faults"
    self.program = program
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(
      file >= 0 && ftruncate(file, off_t(Self.byteCount)) == 0, "\(path): \(String(cString: strerror(errno)))")
    defer { close(file) }
    let page = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    self.page = try #require(page == MAP_FAILED ? nil : page)
  }

  deinit { munmap(page, Self.byteCount) }

  /// The variables for the program that is started.
  var environment: [String: String] {
    get throws {
      ["LD_PRELOAD": try Self.library.get(), "PHOTOD_FAULTS": path, "PHOTOD_FAULTS_PROGRAM": program]
    }
  }

  /// From now on, calls of this class are counted, and those with a number in `numbers` (from 1) fail.
  ///
  /// - Parameters:
  ///   - error: an errno. 0 means that the call does half of its work.
  ///   - below: the beginning of the path. Empty means any call.
  func arm(_ call: Call, error: Int32, _ numbers: ClosedRange<UInt64>, below: String) {
    disarm()
    page.storeBytes(of: error, toByteOffset: Self.error, as: Int32.self)
    page.storeBytes(of: numbers.lowerBound, toByteOffset: Self.first, as: UInt64.self)
    page.storeBytes(of: numbers.upperBound, toByteOffset: Self.last, as: UInt64.self)
    counter(Self.calls).pointee.store(0, ordering: .relaxed)
    counter(Self.fired).pointee.store(0, ordering: .relaxed)
    page.storeBytes(of: 0, toByteOffset: Self.firstCall, as: UInt8.self)
    let bytes = Array(below.utf8.prefix(1023)) + [0]
    (page + Self.prefix).copyMemory(from: bytes, byteCount: bytes.count)
    armed.pointee.store(call.rawValue, ordering: .releasing)
  }

  /// From now on, no call fails or is counted.
  func disarm() { armed.pointee.store(0, ordering: .releasing) }

  /// The number of calls since the fault was armed.
  var callCount: Int { Int(counter(Self.calls).pointee.load(ordering: .acquiring)) }
  var firedCount: Int { Int(counter(Self.fired).pointee.load(ordering: .acquiring)) }

  /// The first call that failed, and its path.
  var firstFailedCall: String { String(cString: (page + Self.firstCall).assumingMemoryBound(to: CChar.self)) }

  private var armed: UnsafeMutablePointer<Atomic<UInt32>> { page.assumingMemoryBound(to: Atomic<UInt32>.self) }

  private func counter(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    (page + offset).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  // MARK: The preloaded library

  /// Without a C compiler, the tests are skipped. If the source does not compile, they fail.
  static let isAvailable = system("command -v cc >/dev/null") == 0

  /// The library is compiled once in each run.
  private static let library = Result { try compile() }

  private static func compile() throws -> String {
    let source = SourceTree.tests.appendingPathComponent("Faults/faults.c").path
    let target = BuiltPrograms.path("photod-faults.so")
    let compiler = TestProcess()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = ["cc", "-std=gnu11", "-Wall", "-O1", "-shared", "-fPIC", "-o", target, source]
    try compiler.run()
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0, "cc could not compile \(source)")
    return target
  }
}
