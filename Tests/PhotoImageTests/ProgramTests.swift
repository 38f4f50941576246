import Foundation
import TestTools
import Testing

/// The decoders, started by hand.
@Suite struct ProgramTests {
  private static let programs = ["photod-image", "photod-preview", "photod-video"]

  private func run(_ program: String, _ arguments: [String]) throws -> (
    output: String, errors: String, status: Int32
  ) {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path(program))
    process.arguments = arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let complaints = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (text, complaints, process.terminationStatus)
  }

  /// Threads are possible, processes are not. clone3(2) does not exist, so that the C library uses clone(2).
  @Test(arguments: programs) func decoderHasOnlyTheRightToReadAndToBeginThreads(_ program: String) throws {
    let (_, list, status) = try run(program, ["--test-sandbox"])
    #expect(status == 0)
    let lines = list.split(separator: "\n").filter { !$0.hasPrefix("allowed: ") }
    #expect(lines.count == 29, "each forbidden thing is tried once")
    for line in lines {
      let isClone3 = line.contains("(clone3)")
      #expect(line.hasSuffix(isClone3 ? ": Function not implemented" : ": Operation not permitted"), "\(line)")
    }
    // Calls that are allowed with certain arguments only are made with other ones here. Some processors have no alarm(2).
    let allowed = list.split(separator: "\n").filter { $0.hasPrefix("allowed: ") }.map { String($0.dropFirst(9)) }
    #expect(
      Set(allowed).subtracting(["alarm"]) == [
        "pread64", "close", "mmap", "mprotect", "munmap", "mremap", "madvise", "brk", "futex", "setitimer",
        "clock_gettime", "getrandom", "rt_sigprocmask", "sched_yield", "restart_syscall", "getpid", "gettid", "clone3",
        "set_robust_list", "rseq", "sched_getaffinity", "fstat",
      ])
  }

  /// A picture that needs more memory than this fails, and the machine goes on.
  @Test(arguments: programs) func limitsOfARunningDecoderAreSet(_ program: String) throws {
    let process = try ImageProcess(program)
    let folder = try TemporaryFolder("image")
    let path = folder.path + "/empty"
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(try process.picture(path, .test(.embedded)).failure != nil, "it has answered, so its sandbox is complete")
    let limits = try process.limits().split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    func hasLimit(_ name: String, _ value: Int) -> Bool {
      let words = name.split(separator: " ").map(String.init)
      return limits.contains { $0.starts(with: words + ["\(value)", "\(value)"]) }
    }
    #expect(hasLimit("Max address space", 2 << 30), "\(limits)")
    #expect(hasLimit("Max open files", 64) && hasLimit("Max core file size", 0), "\(limits)")
  }

  @Test func onePictureIsMadeByHand() throws {
    let folder = try TemporaryFolder("image")
    let (input, output) = (folder.path + "/a.bmp", folder.path + "/a.jpg")
    try Data(MadeFiles.bitmap(64, 32) { _, _ in [10, 200, 30] }).write(to: URL(fileURLWithPath: input))
    let (_, errors, status) = try run("photod-image", ["--picture", input, "--output", output, "--size", "32"])
    #expect(status == 0 && errors.isEmpty, "\(errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: output)).starts(with: [0xFF, 0xD8, 0xFF]))
    let (_, reason, failed) = try run("photod-image", ["--picture", input, "--output", output, "--embedded"])
    #expect(failed == 65 && reason.contains("noEmbeddedPicture"), "\(reason)")
  }

  @Test func formatsAreListed() throws {
    let lines = try run("photod-image", ["--formats"]).output.split(separator: "\n")
    for format in ["image/jpeg", "image/png", "image/webp", "image/tiff", "image/heic", "image/avif"] {
      #expect(lines.contains { $0 == format }, "\(format)")
    }
    #expect(try run("photod-preview", ["--formats"]).output == "image/jpeg\n")
    let videos = try run("photod-video", ["--formats"]).output.split(separator: "\n")
    for format in ["video/mp4", "video/quicktime", "video/x-matroska", "video/webm", "video/mp2t", "video/x-msvideo"] {
      #expect(videos.contains { $0 == format }, "\(format)")
    }
  }

  @Test func oneFrameIsMadeByHand() throws {
    let folder = try TemporaryFolder("image")
    let output = folder.path + "/a.jpg"
    let (_, errors, status) = try run(
      "photod-video", ["--picture", Fixtures.rotatedVideo, "--output", output, "--size", "32", "--at", "0.5"])
    #expect(status == 0 && errors.isEmpty, "\(errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: output)).starts(with: [0xFF, 0xD8, 0xFF]))
    let (_, reason, failed) = try run("photod-video", ["--picture", output, "--output", output])
    #expect(failed == 65 && reason.contains("unsupported"), "\(reason)")
  }

  @Test(arguments: programs) func programIsNotStartedByHand(_ program: String) throws {
    for arguments in [[], ["--fd", "99"], ["--fd", "x"], ["--picture", "a"], ["--what"]] {
      let (_, errors, status) = try run(program, arguments)
      #expect(status == 1 && errors.contains("usage: \(program)"), "\(arguments): \(errors)")
    }
    let time = ["--picture", "a", "--output", "b", "--at"]
    for seconds in ["-1", "x", "inf"] { #expect(try run(program, time + [seconds]).errors.contains("usage")) }
    #expect(try run("photod-image", time + ["1"]).errors.contains("usage"), "a photo has no time")
    let picture = ["--picture", "a", "--output", "b"]
    #expect(try run("photod-preview", picture).errors.contains("usage"), "it makes embedded pictures only")
    #expect(try run("photod-video", picture + ["--embedded"]).errors.contains("usage"), "a video has none")
  }
}
