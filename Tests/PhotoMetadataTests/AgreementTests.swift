import ExtractRecords
import Foundation
import PhotoMetadata
import PhotoModel
import Testing

/// Our facts compared with ExifTool's, field by field, over real photos. `Tests/Scripts/agreement` prints the table.
@Suite struct AgreementTests {
  /// One field of one file, if at least one side has a value.
  private struct Comparison {
    var path: String
    var format: String
    var field: String
    var ours: String
    var theirs: String
    var agrees: Bool
  }

  /// The share that must agree, of each field in each format. With fewer than ``manyFiles``, one file may differ.
  private static let threshold = 0.99
  private static let manyFiles = 100
  private static let fields: Set = [
    "keywords", "title", "caption", "rating", "date", "make", "model", "lens", "exposure time", "f-number", "ISO",
    "focal length", "flash", "latitude", "longitude", "altitude", "orientation", "dimensions", "duration",
    "content type",
  ]
  private static let formats: Set = [
    "JPEG", "TIFF", "PNG", "GIF", "WEBP", "HEIC", "AVIF", "CR3", "MP4", "MOV", "3GP", "JXL", "JP2", "MPO",
  ]
  /// A field that fewer files have in all formats together proves nothing.
  private static let fewest = 25
  /// A difference with such a reason says nothing about our reader, and is left out of the shares.
  private static let reasonsLeftOut = ["not read: ", "made by a fuzzer: ", "ExifTool does not read: "]
  private static let differencesFile = Fixtures.package.appendingPathComponent(
    "Tests/Fixtures/agreement-differences.tsv")

  @Test(.enabled(if: Fixtures.truth != nil, "PHOTOD_TEST_PHOTOS names no folder with photos and ExifTool's findings"))
  func factsOfRealPhotosAgreeWithExifTool() throws {
    let photos = try #require(Fixtures.photos)
    let truths = try ExifToolTruth.load(#require(Fixtures.truth))
    var reader = MediaReader()
    var comparisons: [Comparison] = []
    for truth in truths {
      let url = photos.appendingPathComponent(truth.path)
      guard Self.formats.contains(truth.format),
        let promise = MediaFormat.promised(byName: url.lastPathComponent.utf8), !promise.isRAW || truth.format == "CR3"
      else { continue }
      let facts = try facts(of: url, with: &reader)
      compare(truth, facts, into: &comparisons)
      compareDescriptions(truth, facts, into: &comparisons)
    }
    let reasons = try Self.reasons()
    report(comparisons, reasons)

    let counted = Self.counted(comparisons, reasons)
    for (key, all) in counted {
      let differing = all.count { !$0.agrees }
      let allowed = all.count < Self.manyFiles ? 1.0 : (1 - Self.threshold) * Double(all.count)
      #expect(Double(differing) <= allowed, "\(key): \(differing) of \(all.count) differ")
    }
    let byField = Dictionary(grouping: comparisons, by: \.field).mapValues(\.count)
    for field in Self.fields where field != "duration" {
      #expect(byField[field, default: 0] >= Self.fewest, "\(field): \(byField[field, default: 0]) files")
    }
    #expect(Set(byField.keys) == Self.fields)
    #expect(Set(comparisons.map(\.format)) == Self.formats)
    for comparison in comparisons where !comparison.agrees {
      #expect(reasons["\(comparison.path)\t\(comparison.field)"] != nil, "\(comparison)")
    }
    let found = Set(comparisons.filter { !$0.agrees }.map { "\($0.path)\t\($0.field)" })
    for known in reasons.keys where !found.contains(known) {
      Issue.record("listed as a difference, but it agrees or is gone: \(known)")
    }
  }

  /// By format and field.
  private static func counted(_ comparisons: [Comparison], _ reasons: [String: String]) -> [String: [Comparison]] {
    let counted = comparisons.filter { comparison in
      guard let reason = reasons["\(comparison.path)\t\(comparison.field)"] else { return true }
      return !reasonsLeftOut.contains { reason.hasPrefix($0) }
    }
    return Dictionary(grouping: counted) { "\($0.format) \($0.field)" }
  }

  private func compare(_ truth: ExifToolTruth, _ facts: MediaFacts, into comparisons: inout [Comparison]) {
    func add<T>(_ field: String, _ ours: T?, _ theirs: T?, _ same: (T, T) -> Bool) {
      Self.add(truth, field, ours, theirs, same, to: &comparisons)
    }
    /// ExifTool rounds to ten digits, so values are compared with a tolerance.
    func close(_ one: Double, _ other: Double) -> Bool { abs(one - other) <= max(abs(other) * 1e-6, 1e-7) }
    let camera = facts.camera
    add("date", facts.creationDate, truth.date) { $0 == $1 }
    add("make", camera?.make, truth.make, ==)
    add("model", camera?.model, truth.model, ==)
    add("lens", camera?.lens, truth.lens, ==)
    add("exposure time", camera?.exposureSeconds, truth.exposureSeconds, close)
    add("f-number", camera?.fNumber, truth.fNumber, close)
    add("ISO", camera?.iso, truth.iso, ==)
    add("focal length", camera?.focalLengthMillimeters, truth.focalLength, close)
    add("flash", camera?.flashFired, truth.flashFired, ==)
    let hasPlace = truth.latitude != nil && truth.longitude != nil
    add("latitude", facts.location?.latitude, hasPlace ? truth.latitude : nil, close)
    add("longitude", facts.location?.longitude, hasPlace ? truth.longitude : nil, close)
    add("altitude", facts.location?.altitude, truth.altitude, close)
    add("orientation", facts.orientation, truth.orientation, ==)
    let size = facts.pixelWidth.flatMap { width in facts.pixelHeight.map { [width, $0] } }
    add("dimensions", size, truth.size, ==)
    add("duration", facts.durationSeconds, truth.duration, close)
    // The shared MIME database does not distinguish them.
    let type = facts.contentType == "image/heif" ? "image/heic" : facts.contentType
    add("content type", type, truth.contentType, ==)
  }

  /// Compares the texts that people write, in XMP, IPTC or EXIF.
  private func compareDescriptions(
    _ truth: ExifToolTruth, _ facts: MediaFacts, into comparisons: inout [Comparison]
  ) {
    Self.add(truth, "rating", facts.rating, truth.rating, ==, to: &comparisons)
    Self.add(truth, "keywords", facts.keywords.isEmpty ? nil : facts.keywords, truth.keywords, ==, to: &comparisons)
    Self.add(truth, "title", facts.title, truth.title, ==, to: &comparisons)
    // ExifTool also returns the default texts of cameras.
    let camera = facts.camera ?? Camera()
    let isDefault = truth.caption.map { CaptionDefaults.contains($0, camera) } ?? false
    Self.add(truth, "caption", facts.caption, isDefault ? facts.caption : truth.caption, ==, to: &comparisons)
  }

  private static func add<T>(
    _ truth: ExifToolTruth, _ field: String, _ ours: T?, _ theirs: T?, _ same: (T, T) -> Bool,
    to comparisons: inout [Comparison]
  ) {
    guard ours != nil || theirs != nil else { return }
    let agrees = if let ours, let theirs { same(ours, theirs) } else { false }
    let texts = [ours, theirs].map { $0.map { "\($0)" } ?? "-" }
    comparisons.append(
      Comparison(
        path: truth.path, format: truth.format, field: field, ours: texts[0], theirs: texts[1], agrees: agrees))
  }

  /// The known differences: file, field and reason, separated by tabs.
  private static func reasons() throws -> [String: String] {
    var reasons: [String: String] = [:]
    for line in try String(contentsOf: differencesFile, encoding: .utf8).split(separator: "\n")
    where !line.hasPrefix("#") {
      let parts = line.split(separator: "\t", maxSplits: 2).map(String.init)
      try #require(parts.count == 3, "agreement-differences.tsv: '\(line)' has no three columns")
      reasons["\(parts[0])\t\(parts[1])"] = parts[2]
    }
    return reasons
  }

  private func report(_ comparisons: [Comparison], _ reasons: [String: String]) {
    guard ProcessInfo.processInfo.environment["PHOTOD_PRINT_AGREEMENT"] != nil else { return }
    func column(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    let files = Set(comparisons.map(\.path)).count
    print("\nagreement with ExifTool over \(files) files;")
    print("counted: files where either says something")
    print(column("format and field", 24) + column("agree", 8) + column("of", 8) + "share")
    for (field, all) in Self.counted(comparisons, reasons).sorted(by: { $0.key < $1.key }) {
      let agreeing = all.count(where: \.agrees)
      let share = String(format: "%.2f %%", 100 * Double(agreeing) / Double(all.count))
      print(column(field, 24) + column("\(agreeing)", 8) + column("\(all.count)", 8) + share)
    }
    print("\ndifferences")
    for comparison in comparisons where !comparison.agrees {
      print(
        "  \(comparison.path)\n    \(comparison.format) \(comparison.field): ours \(comparison.ours), ExifTool's \(comparison.theirs)"
      )
      print("    \(reasons["\(comparison.path)\t\(comparison.field)"] ?? "UNEXPLAINED")")
    }
  }
}
