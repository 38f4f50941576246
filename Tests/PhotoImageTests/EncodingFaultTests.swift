import Foundation
import TestTools
import Testing

/// The encoder of photod-preview and photod-video without enough memory, and libraries without decoders.
@Suite(.enabled(if: Compiler.isInstalled, "no C compiler is installed")) struct EncodingFaultTests {
  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// - Returns: what the program prints. Its errors go to those of the test.
  private func output(of program: String, _ arguments: [String]) throws -> String {
    let (process, output) = (TestProcess(), Pipe())
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationReason == .exit && process.terminationStatus == 0, "\(program) \(arguments)")
    return text
  }

  /// Each allocation fails once. The program ends with a failure if memory is freed twice, or another failure is reported.
  @Test func missingMemoryIsReportedAndNothingIsFreedTwice() throws {
    let folder = try TemporaryFolder("encoding")
    let sources = ["Tests/Faults/encoding.c", "Sources/CJPEG/encode.c", "Sources/CJPEG/errors.c"]
    let include = Self.package.appending(path: "Sources/CJPEG/include").path
    let program = folder.path + "/encoding"
    _ = try output(
      of: "/usr/bin/cc",
      ["-std=gnu11", "-O1", "-I", include, "-o", program] + sources.map { Self.package.appending(path: $0).path }
        + ["-ljpeg"])
    let failures = try #require(Int(try output(of: program, []).trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(failures > 5)
  }

  /// A distribution may have a package of its own for each decoder of libheif.
  @Test(arguments: [
    ("avif", "libheif-plugin-dav1d"), ("heic", "libheif-plugin-libde265"), ("webp", "libvips42"),
  ])
  func missingDecoderNamesItsPackage(_ type: String, _ package: String) throws {
    let folder = try TemporaryFolder("decoders")
    let (library, path) = (folder.path + "/decoders.so", folder.path + "/photo." + type)
    _ = try output(
      of: "/usr/bin/cc",
      ["-shared", "-fPIC", "-o", library, Self.package.appending(path: "Tests/Faults/decoders.c").path])
    let content: [UInt8]
    switch type {
    case "webp": content = Array("RIFF\u{10}\0\0\0WEBPVP8 ".utf8) + [UInt8](repeating: 0, count: 64)
    case "heic" where MadeStills.has("heif-enc"): content = try MadeStills.heic(in: folder.path, 256, 128)
    case "avif" where MadeStills.has("heif-enc"):
      _ = try MadeStills.heic(in: folder.path, 256, 128)
      try MadeStills.run("heif-enc", folder.path + "/source.png", "-o", path)
      content = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    default: return
    }
    try Data(content).write(to: URL(fileURLWithPath: path))
    let (process, errors) = (TestProcess(), Pipe())
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photod-image"))
    process.arguments = ["--picture", path, "--output", folder.path + "/made.jpg"]
    process.environment = ProcessInfo.processInfo.environment.merging(["LD_PRELOAD": library]) { $1 }
    process.standardError = errors
    try process.run()
    let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text.contains("unsupported") && text.contains(package), "\(text)")
  }
}

private enum Compiler {
  static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")
}
