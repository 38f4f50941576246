import GRDB
import PhotoCatalog
import PhotoModel
import TestTools

/// Makes a catalog as a library of many years would have it, with this many assets but without a photo.
///
/// Folders have 200 files, in chapters of 100 folders. Dates mostly ascend with the folders. One asset in ten is a
/// video, and one in fifty a favorite. One in five has keywords, one in ten a title, and one in twenty a caption. There
/// are `albums` albums of 500 assets, or fewer in a small catalog, and a large one with a hundredth of all assets. As
/// in a language, few words are frequent and many are rare.
struct CatalogMaker {
  static let albums = 20
  static let filesPerFolder = 200
  private static let foldersPerChapter = 100
  private static let assetsPerCommit = 20_000
  /// From 2005 to 2025.
  private static let firstSecond: Int64 = 1_104_537_600
  private static let lastSecond: Int64 = 1_763_000_000

  let path: String
  /// The root. The folder need not exist, because photod keeps what it knows of an unmounted root.
  let folder: String
  let count: Int

  private var dice = SeededGenerator(seed: 7)

  init(path: String, folder: String, count: Int) {
    (self.path, self.folder, self.count) = (path, folder, count)
  }

  mutating func make() throws {
    let catalog = try Catalog(path: path)
    let folders = try catalog.write { try makeFolders($0) }
    var made = 0
    while made < count {
      let end = min(made + Self.assetsPerCommit, count)
      try catalog.write { writer in
        for number in made..<end {
          let (content, row) = asset(number, in: folders[number / Self.filesPerFolder])
          try writer.insertAsset(content, file: row, addedDate: row.modificationTime)
        }
        try writer.append(origin: "watcher", date: WallTime(seconds: Self.lastSecond))
      }
      made = end
    }
    try catalog.write { writer in
      for id in stride(from: AssetID(1), through: AssetID(count), by: 50) {
        try writer.edit(id, AssetEdit(isFavorite: true))
      }
      try makeAlbums(writer)
      try writer.append(origin: "client:photod-measure", date: WallTime(seconds: Self.lastSecond))
    }
    while try catalog.indexText(limit: 50_000) {}
    try catalog.close()
  }

  private func makeFolders(_ writer: CatalogWriter) throws -> [DirectoryID] {
    let volume = try writer.volume(identity: "photod-measure")
    let root = try writer.insertRoot(path: Array(folder.utf8))
    var inode: UInt64 = 1
    func directory(_ parent: DirectoryID?, _ name: String) throws -> DirectoryID {
      inode += 1
      return try writer.insertDirectory(
        parentID: parent, rootID: parent == nil ? root : nil, name: Array(name.utf8), volumeID: volume, inode: inode,
        birthTime: WallTime(nanoseconds: 1)
      )
    }
    let top = try directory(nil, "")
    var folders: [DirectoryID] = []
    var chapter = top
    for number in 0...count / Self.filesPerFolder {
      if number % Self.foldersPerChapter == 0 {
        chapter = try directory(top, "Chapter \(number / Self.foldersPerChapter + 1)")
      }
      folders.append(try directory(chapter, "Folder \(number + 1)"))
    }
    return folders
  }

  /// Fills the albums in the order of ids. No measurement depends on that order.
  private func makeAlbums(_ writer: CatalogWriter) throws {
    let database = try writer.database
    func make(_ title: String, everyOne every: Int, from first: Int) throws {
      try database.execute(sql: "INSERT INTO collection (kind, title) VALUES (1, ?)", arguments: [title])
      try database.execute(
        sql: """
          INSERT INTO album_asset (collection_id, asset_id, rank)
            SELECT ?1, id, id FROM asset WHERE id % ?2 = ?3 AND id <= ?4
          """, arguments: [database.lastInsertedRowID, every, first, count])
    }
    for album in 1...Self.albums {
      try make("Album \(album)", everyOne: max(Self.albums + 1, count / 500), from: album)
    }
    try make("Large", everyOne: 100, from: 1)
  }

  // MARK: - One asset

  private mutating func asset(_ number: Int, in directory: DirectoryID) -> (AssetContent, FileRow) {
    let isVideo = dice.once(in: 10)
    let camera = Self.cameras[Int.random(in: 0..<Self.cameras.count, using: &dice)]
    let day: Int64 = 86_400
    let step = Double(Self.lastSecond - Self.firstSecond - 30 * day) / Double(count)
    // The photos of a folder span some weeks, and the clocks of cameras are set by hand.
    let second =
      Self.firstSecond + Int64(Double(number) * step) + Int64.random(in: 0..<30 * day, using: &dice)
    var content = AssetContent(
      mediaType: isVideo ? .video : .image, mediaSubtypes: !isVideo && dice.once(in: 40) ? .screenshot : [],
      contentType: isVideo ? "video/mp4" : "image/jpeg",
      creationDate: PhotoDate(
        microseconds: second * 1_000_000 + Int64.random(in: 0..<1_000_000, using: &dice),
        offsetMinutes: dice.once(in: 3) ? nil : 60),
      pixelWidth: 4032, pixelHeight: 3024, orientation: 1,
      durationSeconds: isVideo ? Double(Int.random(in: 1..<90, using: &dice)) : nil)
    content.camera = Camera(
      make: camera.make, model: camera.model, lens: camera.lens, exposureSeconds: 1.0 / 125, fNumber: 4, iso: 200,
      focalLengthMillimeters: 35, flashFired: false)
    if dice.once(in: 2) {
      content.location = Location(
        latitude: Double.random(in: -60..<70, using: &dice), longitude: Double.random(in: -180..<180, using: &dice),
        altitude: 120)
    }
    if dice.once(in: 10) { content.title = words(3) }
    if dice.once(in: 20) { content.caption = words(12) }
    if dice.once(in: 5) { content.keywords = Array(Set((0..<3).map { _ in words(1) })).sorted() }
    let name = isVideo ? "MVI_\(number).MP4" : "\(camera.prefix)\(number).JPG"
    let time = WallTime(seconds: second)
    let row = FileRow(
      assetID: 0, directoryID: directory, name: Array(name.utf8),
      byteCount: Int64.random(in: 1_000_000..<9_000_000, using: &dice), modificationTime: time, changeTime: time,
      inode: UInt64(number) + 1_000_000, birthTime: time, readTime: time, marks: ContentMarks(fingerprint: dice.next()))
    return (content, row)
  }

  private mutating func words(_ count: Int) -> String {
    (0..<count).map { _ in Self.word(Self.wordNumber(&dice)) }.joined(separator: " ")
  }

  static let wordCount = 20_000

  /// A random number of a word in a text. Smaller numbers are more frequent: it is the fourth power of a uniform random
  /// number.
  static func wordNumber(_ dice: inout SeededGenerator) -> Int {
    let share = Double.random(in: 0..<1, using: &dice)
    return Int(Double(wordCount) * share * share * share * share)
  }

  /// A word of three syllables. All words differ, and many begin with the same syllables, as in a language.
  static func word(_ number: Int) -> String {
    var rest = number
    var word = ""
    for _ in 0..<3 {
      word += syllables[rest % syllables.count]
      rest /= syllables.count
    }
    return word
  }

  private static let syllables = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we", "xi", "yo",
    "zu", "bra", "cle", "dri", "flo", "gru", "pla", "ste", "tri",
  ]

  private static let cameras: [(make: String, model: String, lens: String, prefix: String)] = [
    ("FUJIFILM", "X-T5", "XF16-80mmF4 R OIS WR", "DSCF"),
    ("Apple", "iPhone 15 Pro", "iPhone 15 Pro back triple camera 6.765mm f/1.78", "IMG_"),
    ("Canon", "Canon EOS R6", "RF24-105mm F4 L IS USM", "_MG_"),
    ("SONY", "ILCE-7M4", "FE 24-70mm F2.8 GM", "DSC0"),
    ("Google", "Pixel 8", "Pixel 8 back camera 6.9mm f/1.68", "PXL_"),
  ]
}
