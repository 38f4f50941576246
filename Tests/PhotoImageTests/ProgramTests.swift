import Foundation
import TestTools
import Testing

/// The program photod-image, started by hand.
@Suite struct ProgramTests {
  private func run(_ arguments: [String]) throws -> (output: String, errors: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photod-image"))
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
  @Test func decoderHasOnlyTheRightToReadAndToBeginThreads() throws {
    let (_, list, status) = try run(["--test-sandbox"])
    #expect(status == 0)
    let lines = list.split(separator: "\n")
    #expect(lines.count == 29, "each forbidden thing is tried once")
    for line in lines {
      let isClone3 = line.contains("(clone3)")
      #expect(line.hasSuffix(isClone3 ? ": Function not implemented" : ": Operation not permitted"), "\(line)")
    }
  }

  @Test func onePictureIsMadeByHand() throws {
    let folder = try TemporaryFolder("image")
    let (input, output) = (folder.path + "/a.bmp", folder.path + "/a.jpg")
    try Data(MadeFiles.bitmap(64, 32) { _, _ in [10, 200, 30] }).write(to: URL(fileURLWithPath: input))
    let (_, errors, status) = try run(["--picture", input, "--output", output, "--size", "32"])
    #expect(status == 0 && errors.isEmpty, "\(errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: output)).starts(with: [0xFF, 0xD8, 0xFF]))
    let (_, reason, failed) = try run(["--picture", input, "--output", output, "--embedded"])
    #expect(failed == 65 && reason.contains("noEmbeddedPicture"), "\(reason)")
  }

  @Test func formatsAreListed() throws {
    let lines = try run(["--formats"]).output.split(separator: "\n")
    for format in ["image/jpeg", "image/png", "image/webp", "image/tiff", "image/heic", "image/avif"] {
      #expect(lines.contains { $0 == format }, "\(format)")
    }
  }

  @Test func programIsNotStartedByHand() throws {
    for arguments in [[], ["--fd", "99"], ["--fd", "x"], ["--picture", "a"], ["--what"]] {
      let (_, errors, status) = try run(arguments)
      #expect(status == 1 && errors.contains("usage: photod-image"), "\(arguments): \(errors)")
    }
  }
}
