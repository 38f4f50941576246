import PhotoClient
import PhotoModel
import Testing

@testable import photoctl

struct ManageTextTests {
  private let now = WatchText.now
  /// The time is left out, because it depends on the time zone.
  private var clock: String { WatchText.clock(now, now: now) }

  @Test func aTableOfClientsShowsHowFarEachStreamIsBehind() {
    let clients = [
      ConnectedClient(
        number: 2, pid: 4242, uid: 1000, program: "python3", clientName: "slideshow", since: now, callCount: 1_200,
        streams: [
          .init(
            method: "org.photod.library.Observe", options: "smart:favorites", token: "t", behind: true,
            behindBy: 1_204, bytesUnsent: 1_000_000, bytesInSocket: 48_576)
        ]),
      ConnectedClient(
        number: 3, pid: 4300, uid: 1000, command: "/usr/bin/x\u{1B}", since: now,
        streams: [
          .init(method: "org.photod.library.Status"),
          .init(method: "org.photod.manage.Events", behind: true, behindBy: 1),
        ]),
      ConnectedClient(number: 4, pid: 4301, uid: 1000, program: "photoctl", since: now, isSelf: true),
    ]
    #expect(
      ClientText.table(clients, terminalColumns: nil, now: now).replacing(clock, with: "10:15:02") == """
           PID  PROGRAM              SINCE     CALLS  BEHIND                      STREAMS
          4242  python3 (slideshow)  10:15:02  1,200  1,204 commits, 1 MB unread  Observe smart:favorites
          4300  /usr/bin/x?          10:15:02      0  no, 1 event                 Status, Events
          4301  photoctl (this)      10:15:02      0                              -

        """)
  }

  @Test func anEventIsALineWithMillisecondsThatCannotControlTheTerminal() {
    let time = PhotoDate(microseconds: now.microseconds / 1_000_000 * 1_000_000 + 7_000)
    let page = EventPage(
      events: [
        DaemonEvent(
          number: 5, time: time, source: "library", kind: "renamed", path: "/p/b\n.jpg",
          fromPath: "/p/a.jpg", assetID: 12, detail: "the same photo in another place"),
        DaemonEvent(
          number: 6, time: time, source: "watch", kind: "overflow", detail: "events were lost"),
      ], missed: 3)
    let clock = WatchText.clock(time, now: now)
    #expect(
      EventText.text(page, isFirst: false, now: now) == """
        (3 events missed, because the reader is too slow)
        \(clock).007  renamed         /p/a.jpg to /p/b?.jpg  asset 12  the same photo in another place
        \(clock).007  overflow        events were lost

        """)
    #expect(EventText.text(page, isFirst: true, now: now).hasPrefix("(3 events before these are no longer kept)\n"))
  }

  @Test func backupsAreATableThatIncludesUnreadableOnes() throws {
    let backups = [
      BackupFile(path: "/b/a.sqlite", date: now, byteCount: 2_100_000, assetCount: 1_204, isKept: true),
      BackupFile(path: "/b/b\u{1B}.sqlite", date: now, byteCount: 12, assetCount: nil, isKept: false),
    ]
    var renderer = ListRenderer<BackupFile>(format: .table)
    let text = String(decoding: try renderer.page(backups), as: UTF8.self)
    let made = WatchText.clock(now, now: WatchText.now)
    #expect(
      text.split(separator: "\n").map { $0.replacing(made, with: "TIME").replacing(#/ +/#, with: " ") } == [
        "MADE ASSETS SIZE KEPT PATH", "TIME 1,204 2.1 MB until removed /b/a.sqlite",
        "TIME unreadable 12 bytes up to 4 weeks /b/b?.sqlite",
      ])
    var csv = ListRenderer<BackupFile>(format: .csv)
    #expect(
      String(decoding: try csv.page([backups[0]]), as: UTF8.self)
        == "path,date,byteCount,assetCount,isKept\r\n/b/a.sqlite,\(now.description),2100000,1204,true\r\n")
  }

  @Test func unreadableFilesAreLinesFollowedByRemedies() throws {
    let files = ["/p/a\u{1B}.jpg", "/p/b.jpg"].map {
      UnreadableFile(path: $0, kind: "damaged", reason: "cut off", remedy: "Put a whole copy in its place.", assetID: 1)
    }
    var list = UnreadableList(format: .table, columns: nil)
    let text = String(decoding: try list.page(files) + list.end(), as: UTF8.self)
    #expect(
      text == """
        SINCE     WHAT        WHY      PATH
        -         damaged     cut off  /p/a?.jpg
        -         damaged     cut off  /p/b.jpg

        damaged: Put a whole copy in its place.

        """)
    #expect(
      String(decoding: UnreadableList(format: .table, columns: nil).end(), as: UTF8.self) == "Everything can be read.\n"
    )
    var json = UnreadableList(format: .jsonl, columns: nil)
    #expect(
      String(decoding: try json.page([files[1]]) + json.end(), as: UTF8.self)
        == #"{"assetID":1,"kind":"damaged","path":"/p/b.jpg","reason":"cut off","remedy":"Put a whole copy in its place."}"#
        + "\n")
  }

  @Test func aRestoreCountsTheUsersData() {
    let file = BackupFile(
      path: "/b/p.sqlite", date: now, byteCount: 1, assetCount: 1, isKept: true)
    let text = BackupText.restored(
      RestoredBackup(path: "/b/a.sqlite", assetCount: 1200, userDataCount: 6, previous: file))
    #expect(text.hasPrefix("restored 1,200 assets, 6 of them with your data, from /b/a.sqlite\n"))
  }

  @Test func aBackupIsFoundByItsNameAlone() {
    let known = ["/b/photod-1.sqlite", "/b/1.sqlite"].map {
      BackupFile(path: $0, date: now, byteCount: 1, assetCount: 1, isKept: true)
    }
    #expect(RestoreCommand.backup("1.sqlite", among: known) == "/b/1.sqlite")
    #expect(RestoreCommand.backup("photod-1.sqlite", among: known) == "/b/photod-1.sqlite")
    #expect(RestoreCommand.backup("2.sqlite", among: known) == AbsolutePath.text("2.sqlite"))
    #expect(RestoreCommand.backup("sqlite", among: known) == AbsolutePath.text("sqlite"))
  }

  @Test func aCheckPrintsErrorsWithRemediesAndItsCounts() {
    let style = Style(.never, isTerminal: false)
    let counts = ["assets": 1_204, "folders": 3]
    #expect(CheckText.text(.init(findings: [], counts: counts), style: style) == "intact: 1,204 assets, 3 folders\n")
    #expect(
      CheckText.text(
        .init(findings: [], counts: ["commits": 1, "user data": 1, "folders": 1, "lines": 0]), style: style)
        == "intact: 1 commit, 1 folder, 0 lines, user data of 1 asset\n")
    let finding = CatalogCheck.Finding(
      severity: "error", what: "2 files belong to no asset", place: "resource 7", remedy: "Restore a backup.")
    #expect(
      CheckText.text(.init(findings: [finding], counts: counts), style: style) == """
        error: 2 files belong to no asset (resource 7)
          Restore a backup.
        checked: 1,204 assets, 3 folders

        """)
  }
}
