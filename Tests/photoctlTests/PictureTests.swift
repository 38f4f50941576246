import Foundation
import TestTools
import Testing

@testable import photoctl

/// The answers of terminals, and the times at which pictures may be made.
struct PictureTests {
  private func graphics(_ answer: String) -> TerminalGraphics { TerminalGraphics(answer: Array(answer.utf8)) }

  @Test func theTerminalDecides() {
    #expect(graphics("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;c") == .kitty)
    #expect(graphics("\u{1B}[?62;4;22c") == .sixel)
    #expect(graphics("\u{1B}_Gi=31;ENOTSUPPORTED\u{1B}\\\u{1B}[?64;1;2c") == .none)
    #expect(graphics("\u{1B}[?64;14;40c") == .none)
    #expect(graphics("") == .none)
  }

  @Test func anAnswerIsCompleteWithTheAttributes() {
    #expect(TerminalGraphics.isComplete(Array("\u{1B}[?62;4c".utf8)))
    for answer in ["", "\u{1B}_Gi=31;OK\u{1B}\\", "\u{1B}[?62;4", "x\u{1B}[?"] {
      #expect(!TerminalGraphics.isComplete(Array(answer.utf8)), "\(answer.debugDescription)")
    }
  }

  @Test func aPictureIsSentInChunks() {
    let commands = String(
      decoding: TerminalGraphics.kittyCommands(png: Array(repeating: 1, count: 6_000)), as: UTF8.self)
    let parts = commands.split(separator: "\u{1B}\\")
    #expect(parts.count == 3)
    #expect(parts[0].hasPrefix("\u{1B}_Ga=T,f=100,q=2,m=1;") && parts[1].hasPrefix("\u{1B}_Gm=0;"))
    #expect(parts[2] == "\n")
    let encoded = parts.prefix(2).compactMap { $0.split(separator: ";").last }.joined()
    #expect(Data(base64Encoded: encoded) == Data(repeating: 1, count: 6_000))
    #expect(parts.prefix(2).allSatisfy { $0.utf8.count < 4_200 })
  }

  /// A person who gives the name of a picture would get a folder of that name.
  @Test func theOutputOfThumbnailsIsNoPicture() throws {
    let folder = try TemporaryFolder("thumbnails")
    for name in ["a.jpg", "b.JPEG", "c.png", "d.webp"] {
      #expect(PictureFolder.isNamedAsPicture("\(folder.path)/\(name)"), "\(name)")
    }
    try FileManager.default.createDirectory(atPath: "\(folder.path)/a.jpg", withIntermediateDirectories: false)
    for name in ["a.jpg", "b.jpg/", ".", "small", "2024.07", "jpg"] {
      #expect(!PictureFolder.isNamedAsPicture("\(folder.path)/\(name)"), "\(name)")
    }
    do {
      _ = try Photoctl.parseAsRoot(["thumbnail", "42", "--output", "/nowhere/a.jpg"])
      Issue.record("a picture was accepted as a folder")
    } catch {
      let message = Photoctl.message(for: error)
      #expect(message.hasPrefix("--output is '/nowhere/a.jpg'; it must be a folder"))
      #expect(message.hasSuffix("For a folder with this name, write '/nowhere/a.jpg/'."))
    }
  }

  @Test func aBusyOrDischargingMachineWaits() throws {
    let folder = try TemporaryFolder("idle")
    func file(_ name: String, _ text: String) throws {
      let path = folder.path + "/" + name
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
    let machine = MachineIdleness(pressure: folder.path + "/cpu", supplies: folder.path + "/supplies")
    #expect(machine.reasonToWait() == nil)
    try file("cpu", "some avg10=19.90 avg60=50.00 avg300=1.00 total=5\nfull avg10=90.00 avg60=0.00\n")
    #expect(machine.reasonToWait() == nil)
    try file("cpu", "some avg10=20.10 avg60=0.00 avg300=1.00 total=5\n")
    #expect(machine.reasonToWait() == "the processors are busy")
    try file("supplies/AC/type", "Mains\n")
    try file("supplies/AC/online", "0\n")
    try file("supplies/BAT0/type", "Battery\n")
    try file("supplies/BAT0/status", "Discharging\n")
    #expect(machine.reasonToWait() == "the machine runs on its battery")
    try file("supplies/AC/online", "1\n")
    try file("cpu", "some avg10=0.00 avg60=0.00\n")
    #expect(machine.reasonToWait() == nil)
  }

  @Test func copiesNeverReplaceAFileUnasked() throws {
    let folder = try TemporaryFolder("copies")
    let source = folder.path + "/source"
    try Data("new".utf8).write(to: URL(fileURLWithPath: source))
    let target = try PictureFolder(folder.path + "/out", overwrites: false)
    let path = try target.copy(source, as: "1.jpg")
    #expect(path == folder.path + "/out/1.jpg")
    try Data("old".utf8).write(to: URL(fileURLWithPath: path))
    let failure = #expect(throws: Failure.self) { try target.copy(source, as: "1.jpg") }
    #expect(failure?.problem == "\(path) exists")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
    _ = try PictureFolder(folder.path + "/out", overwrites: true).copy(source, as: "1.jpg")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/out") == ["1.jpg"])
  }
}
