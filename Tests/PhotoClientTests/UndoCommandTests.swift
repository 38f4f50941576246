import Foundation
import PhotoModel
import Testing

@testable import PhotoContract

@Suite struct UndoCommandTests {
  @Test func changesAreNamedByWhatTheyDid() async throws {
    func change(
      _ id: Int, _ count: Int, _ collections: [String], _ actions: [UndoableChange.Action]?, _ filename: String? = nil
    ) -> UndoableChange {
      UndoableChange(
        id: id, date: PhotoDate(microseconds: 0), origin: "client:photoctl", assetCount: count,
        collections: collections,
        actions: actions, filename: filename)
    }
    let changes = [
      change(6, 2, [], [.hide]), change(5, 1, [], [.title, .rating], "IMG_1.jpg"),
      change(4, 3, ["Rome"], [.addAssets]), change(3, 1, [], [.creationDate]),
      change(2, 0, ["Trips"], [.delete, .init(rawValue: "later")]), change(1, 1, [], nil),
    ]
    try await ScriptedDaemon.with([
      "FetchUndoableChanges": { try await $0.reply(UndoableChangesReply(changes: changes)) },
      "UndoChange": { try await $0.reply(TokenReply(token: "l.1.9")) },
    ]) { daemon in
      let list = String(decoding: try await daemon.photoctl(["undo", "--list"]).output, as: UTF8.self)
      let subjects = [
        "hide, 2 photos", "title, rating, IMG_1.jpg", "add to an album, 3 photos, 'Rome'", "date, 1 photo",
        "delete, later, 'Trips'", "1 photo",
      ]
      for (row, subject) in zip(list.split(separator: "\n").dropFirst(), subjects) {
        #expect(row.hasSuffix("client:photoctl  \(subject)"), "\(list)")
      }
      #expect(try await daemon.photoctl(["undo"]).errors.hasSuffix("was undone: hide, 2 photos.\n"))
    }
  }

  /// The change before it is another one, which the person does not mean.
  @Test func lastChangeThatCannotBeUndoneIsNotPassedOver() async throws {
    let problem = "The change 7 can't be undone, because it is too large."
    let changes = [
      UndoableChange(
        id: 7, date: PhotoDate(microseconds: 0), origin: "client:photoctl", assetCount: 30_000, collections: ["Rome"],
        problem: problem),
      UndoableChange(
        id: 5, date: PhotoDate(microseconds: 0), origin: "client:photoctl", assetCount: 1, collections: []),
    ]
    try await ScriptedDaemon.with([
      "FetchUndoableChanges": { try await $0.reply(UndoableChangesReply(changes: changes)) },
      "UndoChange": { try await $0.reply(TokenReply(token: "l.1.9")) },
    ]) { daemon in
      for arguments in [["undo"], ["undo", "--dry-run"], ["undo", "7"]] {
        let (output, errors, status) = try await daemon.photoctl(arguments)
        #expect(status == 65 && output.isEmpty, "\(arguments)")
        #expect(errors.hasPrefix("photoctl: \(problem)\n  Nothing was undone. `photoctl undo --list`"), "\(errors)")
      }
      #expect(!daemon.calls.contains("UndoChange"))
      let list = String(decoding: try await daemon.photoctl(["undo", "--list"]).output, as: UTF8.self)
      let rows = list.split(separator: "\n").dropFirst()
      #expect(rows.map { $0.hasSuffix("'Rome'  can't be undone") } == [true, false], "\(list)")
      #expect(try await daemon.photoctl(["undo", "5"]).status == 0)
      #expect(daemon.calls.filter { $0 == "UndoChange" }.count == 1)
    }
  }
}
