import CExpat
import Foundation
import Glibc
import PhotoExtract
import PhotoTestSupport
import TestTools
import Testing

/// A reader has given up its rights: tests of the actions that are still possible, and of the code that photod itself contains.
@Suite struct SandboxTests {
  private func run(_ arguments: [String]) throws -> (output: String, errors: String, status: Int32) {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photod-extract"))
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

  @Test func readerHasOnlyTheRightToRead() throws {
    let (_, list, status) = try run(["--test-sandbox"])
    #expect(status == 0)
    let lines = list.split(separator: "\n").filter { !$0.hasPrefix("allowed: ") && !$0.hasPrefix("Landlock: ") }
    #expect(lines.count == 29, "each forbidden thing is tried once")
    for line in lines { #expect(line.hasSuffix(": Operation not permitted"), "\(line)") }
  }

  /// All other system calls fail, of whatever number. Calls that are allowed with certain arguments only are not among these,
  /// because they are made with other ones.
  @Test func readerHasOnlyTheseSystemCalls() throws {
    let (_, list, _) = try run(["--test-sandbox"])
    let allowed = list.split(separator: "\n").filter { $0.hasPrefix("allowed: ") }.map { String($0.dropFirst(9)) }
    // Some processors have no alarm(2).
    #expect(
      Set(allowed).subtracting(["alarm"]) == [
        "pread64", "close", "mmap", "mprotect", "munmap", "mremap", "madvise", "brk", "futex", "setitimer",
        "clock_gettime", "getrandom", "rt_sigprocmask", "sched_yield", "restart_syscall", "getpid", "gettid",
      ])
  }

  /// Landlock is the second lock on paths. seccomp would hide that it is open.
  @Test func landlockForbidsPathsByItself() throws {
    let (_, list, _) = try run(["--test-sandbox"])
    let lines = list.split(separator: "\n").filter { $0.hasPrefix("Landlock: ") }
    if lines == ["Landlock: the kernel has none"] { return }
    #expect(lines.count == 5)
    for line in lines { #expect(line.hasSuffix(": Permission denied"), "\(line)") }
  }

  /// A line break in a caption would look like another field.
  @Test func controlCharactersOfAFileAreEscaped() throws {
    let folder = try TemporaryFolder("facts")
    let caption = Array("Sea\nrating: 5\r\u{2028}x\u{202E}é".utf8)
    var file: [UInt8] = [0x76, 0x2F, 0x31, 0x01, 2, 0, 0, 0] + Array("comments\0string\0".utf8)
    file += [UInt8(caption.count), 0, 0, 0] + caption + [0]
    let path = folder.path + "/a.exr"
    try Data(file).write(to: URL(fileURLWithPath: path))
    let (text, _, _) = try run(["--file", path])
    #expect(
      text.split(separator: "\n").contains(#"caption: Sea\nrating: 5\r\u{2028}x\u{202E}é"#), "\(text.debugDescription)")
    #expect(!text.contains("\nrating: 5"))
    let (json, _, _) = try run(["--file", path, "--json"])
    let facts = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(facts["caption"] as? String == String(decoding: caption, as: UTF8.self), "\(json)")
  }

  @Test func factsOfOneFileAreJSON() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let photo = tests.appendingPathComponent("Fixtures/made/IMG_0001.jpg").path
    let (text, _, _) = try run(["--file", photo])
    let (json, _, status) = try run(["--file", photo, "--json"])
    #expect(status == 0)
    let facts = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(facts["pixelWidth"] is Int && facts["contentType"] as? String == "image/jpeg", "\(json)")
    // Both forms have the same fields.
    #expect(Set(facts.keys) == Set(text.split(separator: "\n").map { String($0.prefix { $0 != ":" }) }))
  }

  @Test func factsOfOneFileArePrinted() throws {
    let folder = try TemporaryFolder("facts")
    let path = folder.path + "/a.gif"
    try Data(Array("GIF89a".utf8) + [2, 0, 3, 0, 0, 0, 0, 0x3B]).write(to: URL(fileURLWithPath: path))
    let (text, _, status) = try run(["--file", path])
    #expect(status == 0)
    #expect(text.hasPrefix("mediaType: image\ncontentType: image/gif\npixelWidth: 2\npixelHeight: 3\n"), "\(text)")
    let (_, missing, missingStatus) = try run(["--file", folder.path + "/b.gif"])
    #expect(missingStatus == 66 && missing.contains("b.gif can't be opened: No such file or directory"), "\(missing)")
  }

  @Test func programIsNotStartedByHand() throws {
    for arguments in [[], ["--fd", "99"], ["--fd", "x"], ["--what"]] {
      let (_, errors, status) = try run(arguments)
      #expect(status == 1 && errors.contains("usage: photod-extract"), "\(arguments): \(errors)")
    }
  }

  /// The script has photod's end of the socket, and closes it before it reads the greeting. The error of the next read is
  /// then ECONNRESET.
  @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "/usr/bin/python3 is not installed"))
  func processEndsWithoutAWarningWhenPhotodHasEnded() throws {
    let script = """
      import select, socket, subprocess, sys
      ours, theirs = socket.socketpair()
      number = theirs.fileno()
      child = subprocess.Popen([sys.argv[1], '--fd', str(number)], pass_fds=[number], stderr=subprocess.PIPE)
      theirs.close()
      select.select([ours], [], [])
      ours.close()
      print(child.communicate()[1].decode(), child.returncode)
      """
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", script, BuiltPrograms.path("photod-extract")]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text == " 0\n")
  }

  /// The greeting comes after the sandbox is complete. A file that needs more memory than this fails, and the machine goes on.
  @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "/usr/bin/python3 is not installed"))
  func limitsOfARunningReaderAreSet() throws {
    let script = """
      import select, socket, subprocess, sys
      ours, theirs = socket.socketpair()
      number = theirs.fileno()
      child = subprocess.Popen([sys.argv[1], '--fd', str(number)], pass_fds=[number])
      theirs.close()
      select.select([ours], [], [])
      print(open(f'/proc/{child.pid}/limits').read())
      ours.close()
      child.wait()
      """
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", script, BuiltPrograms.path("photod-extract")]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let limits = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    for (name, value) in [("Max address space", 1 << 30), ("Max open files", 64), ("Max core file size", 0)] {
      let words = name.split(separator: " ").map(String.init) + ["\(value)", "\(value)"]
      #expect(limits.contains { $0.starts(with: words) }, "\(name): \(text)")
    }
  }

  /// The names by which a program contains a parser or decoder: modules, functions and libraries, and a program that has it.
  private static let parsers = [
    ("13PhotoMetadata", "photod-extract"), ("exif_data_load_data", "photod-extract"),
    ("\0libexif.so", "photod-extract"),
    ("XML_ParserCreateNS", "photod-extract"), ("\0libexpat.so", "photod-extract"), ("\0inflate\0", "photod-extract"),
    ("\0libz.so", "photod-extract"), ("15PictureDecoding", "photod-image"), ("16EmbeddedPictures", "photod-image"),
    ("imagedecoders_", "photod-image"), ("\0libheif.so", "photod-image"), ("\0libjxl.so", "photod-image"),
    ("\0libraw.so", "photod-image"), ("\0libvips.so", "photod-image"), ("\0liblcms2.so", "photod-image"),
    ("jpegcodec_", "photod-preview"), ("\0libjpeg.so", "photod-preview"), ("\0libavformat.so", "photod-video"),
    ("\0libavcodec.so", "photod-video"), ("\0libswscale.so", "photod-video"),
  ]

  /// photod holds the catalog. So no photo may be parsed in it, and nothing may be decompressed. The other programs show that
  /// the names are right.
  @Test func photodContainsNoParser() throws {
    var programs: [String: Data] = [:]
    for name in ["photod", "photod-extract", "photod-image", "photod-preview", "photod-video"] {
      let file = URL(fileURLWithPath: BuiltPrograms.path(name))
      programs[name] = try Data(contentsOf: file, options: .alwaysMapped)
    }
    // memmem(3), which CExpat declares, searches a program of 100 MB in milliseconds.
    func isIn(_ program: String, _ name: String) -> Bool {
      let bytes = Array(name.utf8)
      return programs[program]?.withUnsafeBytes { program in
        program.baseAddress.flatMap { memmem($0, program.count, bytes, bytes.count) } != nil
      } ?? false
    }
    for (name, program) in Self.parsers {
      #expect(isIn(program, name), "\(name) is no longer in \(program)")
      #expect(!isIn("photod", name), "\(name)")
    }
    // Two small types of photod look at pictures. `PictureHeader` reads their size, and `PNGChunks` reads the uncompressed
    // texts of a shared thumbnail.
    for name in ["11PhotoImages13PictureHeader", "11PhotoImages9PNGChunks"] {
      #expect(isIn("photod", name), "the exception \(name) is no longer needed")
    }
  }
}
