import Foundation
import PhotoClient
import PhotoModel
import Testing

@testable import photoctl

struct RenderingTests {
  private static let taken = PhotoDate(
    year: 2024, month: 7, day: 21, hour: 10, minute: 0, second: 5, offsetMinutes: 120)!

  private func asset(_ id: AssetID, path: String = "/p/a.jpg", _ change: (inout Asset) -> Void = { _ in }) -> Asset {
    var asset = Asset(
      id: id, mediaType: .image, creationDate: Self.taken, creationDateSource: .metadata,
      modificationDate: PhotoDate(microseconds: 0), addedDate: PhotoDate(microseconds: 0),
      resources: [
        Resource(kind: .photo, path: path, filename: "a.jpg", byteCount: 3_400_000, contentType: "image/jpeg")
      ])
    change(&asset)
    return asset
  }

  private func rendered(
    _ pages: [[Asset]], _ format: OutputFormat, fields names: String? = nil, columns: Int? = nil
  ) throws -> String {
    let options = try FieldOptions<Asset>.parse(names.map { ["--fields", $0] } ?? [])
    var renderer = ListRenderer<Asset>(format: format, fields: options.chosen, columns: columns)
    var bytes: [UInt8] = []
    for page in pages { bytes += try renderer.page(page) }
    return String(decoding: bytes + renderer.end(), as: UTF8.self)
  }

  @Test func aTableHasOneHeadingAndTheWidthsOfItsFirstPage() throws {
    let text = try rendered(
      [
        [
          asset(7) {
            $0.pixelWidth = 4000
            $0.pixelHeight = 3000
            $0.isFavorite = true
          }
        ], [asset(12_345, path: "/p/b.jpg") { $0.creationDateSource = .filename }],
      ], .table)
    #expect(
      text == """
          ID  TAKEN              TYPE      PIXELS  ♥  PATH
           7  2024-07-21 10:00   image  4000×3000  ♥  /p/a.jpg
        12345  2024-07-21 10:00~  image          -     /p/b.jpg

        """)
  }

  @Test func namesCannotControlTheTerminal() throws {
    let text = try rendered([[asset(1, path: "/p/\u{1B}[31m\n\u{202E}gpj.exe")]], .table)
    #expect(text.hasSuffix("/p/?[31m??gpj.exe\n"))
  }

  @Test func aLineOfJSONIsTheAssetOfTheWire() throws {
    let assets = [asset(1), asset(2, path: "/p/ü\n.jpg")]
    let lines = try rendered([assets], .jsonl).split(separator: "\n")
    let decoded = try lines.map { try JSONDecoder().decode(Asset.self, from: Data($0.utf8)) }
    #expect(decoded == assets)
    #expect(lines[0].contains(#""path":"/p/a.jpg""#))
  }

  @Test(arguments: [[], [1], [1, 1], [2, 0, 3]])
  func pagesMakeOneJSONArray(sizes: [Int]) throws {
    var id: AssetID = 0
    let pages = sizes.map { size in
      (0..<size).map { _ in
        id = id.advanced(by: 1)
        return asset(id)
      }
    }
    let text = try rendered(pages, .json)
    #expect(try JSONDecoder().decode([Asset].self, from: Data(text.utf8)) == pages.flatMap { $0 })
  }

  @Test func pathsAreTheBytesOfTheFileSystem() throws {
    var renderer = ListRenderer<Asset>(format: .paths)
    let bytes = try renderer.page([asset(1, path: "file:///p/%FF%20.jpg"), asset(2) { $0.resources = [] }])
    #expect(bytes == Array("/p/".utf8) + [0xFF, 0x20] + Array(".jpg\n".utf8))
  }

  @Test func pathsEndWithNULInTheFormatPaths0() throws {
    #expect(try rendered([[asset(1)], [asset(2, path: "/p/b\n.jpg")]], .paths0) == "/p/a.jpg\0/p/b\n.jpg\0")
  }

  @Test func fieldsChooseTheValuesAndTheirOrder() throws {
    let one = asset(7, path: "/p/\"a\".jpg") {
      $0.camera = Camera(model: "X-T5", fNumber: 2.8)
      $0.keywords = ["sea", "sun"]
      $0.isFavorite = true
    }
    let names = "path, camera.model,keywords,camera.fNumber,isFavorite,rating,id"
    #expect(
      try rendered([[one]], .jsonl, fields: names) == #"""
        {"path":"/p/\"a\".jpg","camera.model":"X-T5","keywords":["sea","sun"],"camera.fNumber":2.8,"isFavorite":true,"rating":null,"id":7}

        """#)
    #expect(
      try rendered([[one]], .csv, fields: names)
        == "path,camera.model,keywords,camera.fNumber,isFavorite,rating,id\r\n"
        + "\"/p/\"\"a\"\".jpg\",X-T5,sea;sun,2.8,true,,7\r\n")
    #expect(
      try rendered([[one]], .table, fields: "id,camera.model,rating") == """
        id  camera.model  rating
         7  X-T5               -

        """)
    #expect(try rendered([[one], [asset(8)]], .json, fields: "id") == "[\n{\"id\":7},\n{\"id\":8}\n]\n")
  }

  /// Programs get the exact values, and people get them as in the other tables.
  @Test func datesAndRealNumbersOfATableAreRounded() throws {
    let one = asset(7) {
      $0.location = Location(latitude: -100.0 / 3, longitude: 18.25)
      $0.camera = Camera(exposureSeconds: 1 / 8000, fNumber: 2.8)
    }
    let names = "creationDate,addedDate,location.latitude,location.longitude,camera.exposureSeconds,camera.fNumber"
    let rows = try rendered([[one]], .table, fields: names).split(separator: "\n")
    let cells = try #require(rows.last).components(separatedBy: "  ").filter { !$0.isEmpty }.map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    #expect(
      cells == [
        "2024-07-21 10:00", WatchText.minute(PhotoDate(microseconds: 0)), "-33.333333", "18.25", "0.000125", "2.8",
      ], "\(rows)")
    #expect(
      try rendered([[one]], .csv, fields: names).hasSuffix(
        "2024-07-21T10:00:05+02:00,1970-01-01T00:00:00Z,\(-100.0 / 3),18.25,0.000125,2.8\r\n"))
  }

  @Test func valuesWithSeparatorsInThemAreQuoted() throws {
    let one = asset(1) {
      $0.title = "a, \"b\"\r\nc"
      // A quote with an accent is one character.
      $0.caption = "x\"\u{301}\ty\\"
    }
    #expect(
      try rendered([[one]], .csv, fields: "title,caption")
        == "title,caption\r\n\"a, \"\"b\"\"\r\nc\",\"x\"\"\u{301}\ty\\\"\r\n")
    #expect(
      try rendered([[one]], .tsv, fields: "title,caption")
        == "title\tcaption\na, \"b\"\\r\\nc\tx\"\u{301}\\ty\\\\\n")
  }

  @Test func aRowOfOneEmptyValueIsNoEmptyLine() throws {
    #expect(try rendered([[asset(1), asset(2)]], .csv, fields: "title") == "title\r\n\"\"\r\n\"\"\r\n")
    #expect(try rendered([[asset(1)]], .csv, fields: "title,rating") == "title,rating\r\n,\r\n")
  }

  @Test func aTableOfValuesHasItsHeaderAlsoWithoutRows() throws {
    #expect(try rendered([[]], .csv, fields: "id,path") == "id,path\r\n")
    #expect(try rendered([], .tsv, fields: "id,path") == "id\tpath\n")
  }

  @Test func everyFieldIsAMemberOfTheAssetOfTheWire() throws {
    let all = asset(1) {
      $0.mediaSubtypes = ["raw"]
      ($0.pixelWidth, $0.pixelHeight, $0.orientation, $0.durationSeconds) = (1, 2, 3, 4)
      $0.location = Location(latitude: 1, longitude: 2, altitude: 3)
      $0.camera = Camera(
        make: "m", model: "n", lens: "l", exposureSeconds: 1, fNumber: 2, iso: 3, focalLengthMillimeters: 4,
        flashFired: true)
      ($0.title, $0.caption, $0.keywords, $0.rating, $0.burstIdentifier) = ("t", "c", ["k"], 5, "b")
    }
    let object = try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(all)) as? [String: Any])
    var members: Set<String> = []
    for (name, value) in object where name != "resources" {
      if let inner = value as? [String: Any] {
        members.formUnion(inner.keys.map { "\(name).\($0)" })
      } else {
        members.insert(name)
      }
    }
    #expect(Set(Asset.fields.map(\.name)) == members.union(["filename", "path", "byteCount", "contentType"]))
    for field in Asset.fields { #expect(field.value(all) != .absent, "\(field.name)") }
  }

  @Test func aTableIsCutAtTheTerminalsEdgeBetweenCharacters() throws {
    let assets = [asset(1, path: "/photos/2024/東京タワー👩‍👩‍👧/b.jpg"), asset(2, path: "/a.jpg")]
    for columns in 40...120 {
      for line in try rendered([assets], .table, columns: columns).split(separator: "\n") {
        #expect(TextWidth.columns(of: line) <= columns)
      }
    }
    let narrow = try rendered([assets], .table, columns: 61)
    #expect(narrow.contains("  …タワー👩‍👩‍👧/b.jpg\n"), "\(narrow)")
    #expect(try rendered([assets], .table).contains(assets[0].resources[0].path))
  }

  @Test func aDateIsNotCutForAPath() throws {
    let text = try rendered([[asset(1, path: "/a/long/path/to/b.jpg")]], .table, columns: 55)
    #expect(text.contains("   1  2024-07-21 10:00   image          -     …to/b.jpg\n"), "\(text)")
  }

  @Test func columnsOfTextShareTheAvailableWidth() throws {
    let long = asset(123) {
      $0.title = String(repeating: "t", count: 50)
      $0.caption = String(repeating: "c", count: 50)
    }
    let text = try rendered([[long]], .table, fields: "id,title,caption", columns: 40)
    #expect(
      text == """
         id  title             caption
        123  \(String(repeating: "t", count: 15))…  \(String(repeating: "c", count: 16))…

        """)
  }

  @Test func anEmptyListPrintsNothingExceptAnEmptyArray() throws {
    #expect(try rendered([[]], .table) == "")
    #expect(try rendered([[]], .jsonl) == "")
    #expect(try rendered([[]], .paths) == "")
    #expect(try rendered([[]], .json) == "[]\n")
  }

  @Test func showPrintsEveryKnownFact() {
    let shown = AssetText.text(
      asset(5) {
        $0.pixelWidth = 4000
        $0.pixelHeight = 3000
        $0.isFavorite = true
        $0.keywords = ["sea", "sun"]
        $0.camera = Camera(
          make: "FUJIFILM", model: "X-T4", exposureSeconds: 0.004, fNumber: 2.8, iso: 400, focalLengthMillimeters: 35)
        $0.location = Location(latitude: 54.5 + 1 / 3, longitude: -0.25, altitude: -0.4)
      })
    #expect(
      shown == """
           asset  5
            type  image
        keywords  sea, sun
          marked  ♥ favorite
           taken  2024-07-21 10:00:05+02:00
          pixels  4000×3000
          camera  FUJIFILM, X-T4
        exposure  1/250 s, f/2.8, ISO 400, 35 mm
           place  54.833333, -0.25, -0.4 m
        modified  \(WatchText.moment(PhotoDate(microseconds: 0)))
           added  \(WatchText.moment(PhotoDate(microseconds: 0)))
           photo  /p/a.jpg  (image/jpeg, 3.4 MB)

        """)
  }

  @Test func statusHasOneLineForEachFact() {
    let since = PhotoDate(microseconds: 1_700_000_000_000_000)
    let status = LibraryStatus(
      state: .scanning, library: "l", token: "l.1.2", version: "0.1.0", assetCount: 12_345, pendingCount: 2,
      failedCount: 1, progress: .init(done: 50, total: 200, phase: "reading"),
      roots: [
        .init(path: "/p", state: .online, assetCount: 1, directoryCount: 1),
        .init(
          path: "/card", state: .offline, watch: .polling, assetCount: 9, directoryCount: 2,
          since: since, reason: "It can't be opened. Put it in."),
      ], warnings: ["/card is offline. Put it in."], observerCount: 1, connectionCount: 2,
      counters: .init(
        assetsInserted: 12_345, assetsUpdated: 2, assetsRemoved: 1, filesRead: 13_000, scans: 1, overflows: 2,
        watcherStarts: 3))
    #expect(
      StatusText.text(status) == """
        scanning: 12,345 assets, 2 pending, 1 with unreadable content (see `photoctl status --unreadable`)
        [#######.......................]  50 of 200, reading

          /p     online  1 asset in 1 folder
          /card  offline  9 assets in 2 folders, polled, since \(since.localTimeToMinute)
            It can't be opened. Put it in.

          warning: /card is offline. Put it in.

        since its start: 12,345 inserted, 2 updated, 1 removed; 13,000 files read, 1 scan, 2 overflows, 3 starts of photod-watch

        photod 0.1.0, 2 connections, 1 observer
        token l.1.2

        """)
  }

  @Test(
    arguments: [
      (.init(running: 1), "metadata is read by 1 process"),
      (.init(running: 2, restarts: 1, blamedFiles: 1), "metadata is read by 2 processes, 1 restart, 1 file given up"),
      (
        .init(running: 0, restarts: 1_200, blamedFiles: 3),
        "metadata is read by 0 processes, 1,200 restarts, 3 files given up"
      ),
    ] as [(LibraryStatus.Readers, String)])
  func statusShowsTheReadersOfMetadata(readers: LibraryStatus.Readers, line: String) {
    var status = LibraryStatus(state: .live, library: "l", token: "l.1.2", version: "0.1.0", assetCount: 9)
    #expect(!StatusText.text(status).contains("metadata is read"))
    status.readers = readers
    #expect(StatusText.text(status).contains("\n\(line)\n\nphotod 0.1.0"), "\(StatusText.text(status))")
  }

  @Test(arguments: [LibraryStatus.State.scanning, .recovering])
  func emptyProgressIsNoLine(state: LibraryStatus.State) {
    var status = LibraryStatus(
      state: state, library: "l", token: "l.1.2", version: "0.1.0", assetCount: 2378, pendingCount: 1,
      progress: .init(done: 0, phase: "scanning"))
    #expect(StatusText.text(status).hasPrefix("\(state.rawValue): 2,378 assets, 1 pending\n\nphotod 0.1.0"))
    status.progress = .init(done: 1200, phase: "scanning")
    #expect(StatusText.text(status).hasPrefix("\(state.rawValue): 2,378 assets, 1 pending\n1,200 files seen\n\nphotod"))
  }

  @Test(arguments: [
    (0, 0, "nothing to do: no photos were found"), (1, 1, "1 photo is hidden now"), (2, 2, "2 photos are hidden now"),
    (0, 1, "nothing to do: 1 photo was hidden already"), (0, 1_200, "nothing to do: 1,200 photos were hidden already"),
    (1, 3, "1 photo is hidden now; 2 photos were hidden already"),
    (2, 3, "2 photos are hidden now; 1 photo was hidden already"),
  ])
  func onlyThePhotosThatAChangeHasChangedCount(changed: Int, all: Int, text: String) {
    #expect(
      PhotoLibrary.text(
        changed, of: all, summary: ("photo is hidden now", "photos are hidden now"),
        unchanged: ("photo was hidden already", "photos were hidden already")) == text)
  }

  @Test func aMissingIdIsExplained() {
    #expect(
      PhotoLibraryError.noSuchAsset(ids: [7]).remedy.hasPrefix("It may have been deleted. Its id is never given to"))
    #expect(
      PhotoLibraryError.noSuchAsset(ids: [7, 8]).remedy.hasPrefix("They may have been deleted. Their ids are never"))
  }

  @Test func aReasonThatAWarningRepeatsIsPrintedOnce() {
    var status = LibraryStatus(state: .live, library: "l", token: "l.1.2", version: "0.1.0", assetCount: 9)
    status.roots = [.init(path: "/card", state: .offline, assetCount: 9, reason: "It can't be opened (why). Wait.")]
    #expect(StatusText.text(status).contains("\n    It can't be opened (why). Wait.\n"))
    status.warnings = ["/card/2 can't be opened (why). Wait."]
    #expect(StatusText.text(status).contains("\n    It can't be opened (why). Wait.\n"))
    status.warnings = ["/card can't be opened (why). Wait."]
    #expect(StatusText.text(status).components(separatedBy: "can't be opened").count == 2)
    #expect(StatusText.text(status).contains("\n  warning: /card can't be opened (why). Wait.\n"))
  }

  @Test(
    arguments: [
      (LibraryStatus.Hashing(sampledBytes: 5, hashedBytes: 5), nil),
      (.init(paused: "on battery"), nil),
      (.init(unsampledCount: 1), "to make while idle: 1 sample"),
      (.init(unhashedCount: 1_200), "to make while idle: 1,200 hashes"),
      (
        .init(unsampledCount: 1_200, unhashedCount: 1, paused: "on battery"),
        "to make while idle: 1,200 samples and 1 hash, paused: on battery"
      ),
    ] as [(LibraryStatus.Hashing, String?)])
  func filesThatAreStillToBeHashedAreCounted(hashing: LibraryStatus.Hashing, line: String?) {
    var status = LibraryStatus(state: .live, library: "l", token: "l.1.2", version: "0.1.0", assetCount: 9)
    let without = StatusText.text(status)
    status.hashing = hashing
    let parts = without.components(separatedBy: "\nphotod ")
    #expect(parts.count == 2)
    #expect(StatusText.text(status) == parts.joined(separator: (line.map { "\n\($0)\n" } ?? "") + "\nphotod "))
  }

  @Test func numbersAreWrittenForPeople() {
    #expect(Text.grouped(1_234_567) == "1,234,567")
    #expect(Text.grouped(999) == "999")
    #expect(byteText(999) == "999 bytes")
    #expect([0.04, -0.04, 2.96, -0.5, -1.25].map { roundedText($0) } == ["0", "0", "3", "-0.5", "-1.3"])
    #expect([0.0000004, 0.05, 100].map(Text.real) == ["0", "0.05", "100"])
    #expect(byteText(3_949) == "3.9 kB")
    #expect(byteText(2_000_000_000_000) == "2 TB")
    #expect(Text.count(1, "asset", "assets") == "1 asset")
  }
}
