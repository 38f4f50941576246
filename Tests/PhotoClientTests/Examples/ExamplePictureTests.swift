import PhotoContract
import TestTools
import Testing

/// The examples that request and prepare pictures.
@Suite(
  .enabled(if: BuiltPrograms.hasExamples, "the examples are not built, which takes PHOTOD_EXAMPLES=1"),
  .timeLimit(.minutes(10)))
struct ExamplePictureTests {
  /// A picture must never arrive in a cell that shows another photo by then.
  @Test(arguments: [AuthorizationStatus.authorized, .limited])
  func noPictureArrivesInAReusedCell(_ status: AuthorizationStatus) async throws {
    let photos = ScriptedPhotos(Array(1...500), status: status)
    try await ScriptedDaemon.with(photos.answers) { daemon in
      let rows = (0..<101).map { "\($0 * 170 % 490)" }
      let (lines, exit) = try await daemon.example("ThumbnailListExample", rows)
      #expect(exit == 0, "\(lines.suffix(3))")
      let cells = CellLines(lines)
      #expect(cells.late.isEmpty && cells.unknown.isEmpty, "\(cells.late) \(cells.unknown)")
      #expect(cells.shownCount > 1_000)
      #expect(cells.complete.count == 10, "each cell has its picture at the end: \(cells.complete)")
      #expect(cells.withoutPicture > 0, "scrolling was so slow that no request was cancelled")
    }
  }

  @Test func thePickerPreparesTheNextScreenAndCancelsTheOthers() async throws {
    let photos = ScriptedPhotos(Array(1...100))
    try await ScriptedDaemon.with(photos.answers) { daemon in
      let (lines, status) = try await daemon.example("ImagePickerExample", ["0", "1", "20", "24", "pick", "5", "x"])
      #expect(status == 0)
      // A screen has 12 cells, and the last one ends with the list after 4. The last two lines are no cells.
      #expect(lines.count == 42, "\(lines)")
      #expect(lines[0] == "0: 1.jpg, 128×96" && lines[35] == "91: 92.jpg, 128×96", "\(lines)")
      #expect(lines.suffix(2) == ["picked /photos/6.jpg, 128×96", "'x' is neither a row nor 'pick'."])
      #expect(
        photos.caching == [
          "start 12..<24", "stop 12..<16", "start 24..<28", "stop 16..<28", "start 92..<100", "stop 92..<100",
          "stop all",
        ])
    }
  }

  @Test func thePrefetcherFollowsTheDirectionOfScrolling() async throws {
    let photos = ScriptedPhotos(Array(1...100))
    try await ScriptedDaemon.with(photos.answers) { daemon in
      let (lines, status) = try await daemon.example("PrefetcherExample", ["0", "10", "30", "28", "90"])
      #expect(status == 0)
      #expect(lines.count { $0.hasPrefix("row ") } == 50)
      #expect(
        // The program may end before the last of its calls is sent.
        photos.caching.filter { $0 != "stop all" } == [
          // Down: half a screen behind, and two screens ahead.
          "start 0..<30", "stop 0..<5", "start 30..<40", "stop 5..<25", "start 40..<60",
          // Up: two screens ahead of row 28, and half a screen behind row 38.
          "stop 43..<60", "start 8..<25",
          // A jump leaves nothing of the window before.
          "stop 8..<43", "start 85..<100",
        ])
      #expect(lines.contains("up: start 8..<25") && lines.contains("down: start 85..<100"))
    }
  }
}

/// The output of the thumbnail list.
private struct CellLines {
  /// The pictures that arrived in a cell with another photo.
  var late: [String] = []
  var unknown: [String] = []
  /// The cells that have the final picture of their photo.
  var complete: Set<Substring> = []
  var shownCount = 0
  /// How often a cell was reused before its picture arrived.
  var withoutPicture = 0

  init(_ lines: [String]) {
    var shown: [Substring: Substring] = [:]
    for line in lines {
      guard let match = line.wholeMatch(of: /cell (\d+): (?:(picture|preview) of )?(\d+\.jpg)/) else {
        unknown.append(line)
        continue
      }
      let (_, cell, picture, name) = match.output
      if let picture {
        if shown[cell] != name { late.append(line) }
        if picture == "picture" { complete.insert(cell) }
      } else {
        shownCount += 1
        if shown[cell] != nil, !complete.contains(cell) { withoutPicture += 1 }
        complete.remove(cell)
        shown[cell] = name
      }
    }
  }
}
