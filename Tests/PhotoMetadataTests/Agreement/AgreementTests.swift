import ExtractRecords
import Foundation
import PhotoMetadata
import PhotoModel
import Testing

/// Our facts compared with ExifTool's, field by field and format by format, over real photos and videos.
/// `Tests/Scripts/agreement` prints the table. ``AgreementFields`` says which fields of which format are compared.
@Suite struct AgreementTests {
  /// One field of one file, if at least one side has a value.
  private struct Comparison {
    var path: String
    var format: String
    var field: AgreementFields.Field
    var ours: String
    var theirs: String
    var agrees: Bool
  }

  private struct Cell: Hashable {
    var format: String
    var field: AgreementFields.Field
  }

  private static let threshold = 0.99
  /// With fewer values than this, one disagreement is allowed.
  private static let fewest = 100
  /// A difference with such a reason says nothing about our reader, and is left out of the shares. It is listed all the
  /// same. The numbers are those of the list, so that a share does not rise because a row gets such a reason.
  private static let reasonsLeftOut = ["not read: ": 6, "made by a fuzzer: ": 17, "ExifTool does not read: ": 13]
  /// A field that fewer files have in all formats together proves nothing.
  private static let fewestOfField = 25
  private static let differencesFile = Fixtures.package.appendingPathComponent(
    "Tests/Fixtures/agreement-differences.tsv")

  @Test(.enabled(if: Fixtures.truth != nil, "PHOTOD_TEST_PHOTOS names no folder with photos and ExifTool's findings"))
  func factsOfRealFilesAgreeWithExifTool() throws {
    let photos = try #require(Fixtures.photos)
    var reader = MediaReader()
    var comparisons: [Comparison] = []
    for truth in try ExifToolTruth.load(#require(Fixtures.truth)) {
      let url = photos.appendingPathComponent(truth.path)
      guard let fields = AgreementFields.of(format: truth.format),
        MediaFormat.promised(byName: url.lastPathComponent.utf8) != nil
      else { continue }
      compare(truth, try facts(of: url, with: &reader), fields, into: &comparisons)
    }
    let reasons = try Self.reasons()
    report(comparisons, reasons)

    for (cell, all) in Self.counted(comparisons, reasons) {
      let disagreeing = all.count(where: { !$0.agrees })
      let allowed = all.count < Self.fewest ? 1.0 : (1 - Self.threshold) * Double(all.count)
      #expect(Double(disagreeing) <= allowed, "\(cell.format) \(cell.field.rawValue): \(disagreeing) of \(all.count)")
    }
    for comparison in comparisons where !comparison.agrees {
      #expect(reasons["\(comparison.path)\t\(comparison.field.rawValue)"] != nil, "\(comparison)")
    }
    let found = Set(comparisons.filter { !$0.agrees }.map { "\($0.path)\t\($0.field.rawValue)" })
    for known in reasons.keys where !found.contains(known) {
      Issue.record("listed as a difference, but it agrees or is gone: \(known)")
    }
    for (beginning, most) in Self.reasonsLeftOut {
      let count = reasons.values.count { $0.hasPrefix(beginning) }
      #expect(count <= most, "\(count) differences are left out because of '\(beginning)'")
    }
    let byField = Dictionary(grouping: comparisons, by: \.field)
    for field in AgreementFields.Field.allCases {
      #expect(byField[field, default: []].count >= Self.fewestOfField, "\(field.rawValue)")
    }
    let formats = Set(comparisons.map(\.format))
    for format in AgreementFields.formatsWithRealFiles where !formats.contains(format) {
      Issue.record("no file of the format \(format) was compared")
    }
  }

  private static func counted(_ comparisons: [Comparison], _ reasons: [String: String]) -> [Cell: [Comparison]] {
    let counted = comparisons.filter { comparison in
      guard let reason = reasons["\(comparison.path)\t\(comparison.field.rawValue)"] else { return true }
      return !reasonsLeftOut.keys.contains { reason.hasPrefix($0) }
    }
    return Dictionary(grouping: counted) { Cell(format: $0.format, field: $0.field) }
  }

  private func compare(
    _ truth: ExifToolTruth, _ facts: MediaFacts, _ fields: Set<AgreementFields.Field>,
    into comparisons: inout [Comparison]
  ) {
    func add<T>(_ field: AgreementFields.Field, _ ours: T?, _ theirs: T?, _ same: (T, T) -> Bool) {
      guard fields.contains(field), ours != nil || theirs != nil else { return }
      let agrees = if let ours, let theirs { same(ours, theirs) } else { false }
      let texts = [ours, theirs].map { $0.map { "\($0)" } ?? "-" }
      comparisons.append(
        Comparison(
          path: truth.path, format: truth.format, field: field, ours: texts[0], theirs: texts[1], agrees: agrees))
    }
    /// ExifTool rounds to ten digits, so values are compared with a tolerance.
    func close(_ one: Double, _ other: Double) -> Bool { abs(one - other) <= max(abs(other) * 1e-6, 1e-7) }
    let camera = facts.camera
    add(.date, facts.creationDate, truth.date, ==)
    add(.make, camera?.make, truth.make, ==)
    add(.model, camera?.model, truth.model, ==)
    add(.lens, camera?.lens, truth.lens, ==)
    add(.exposureTime, camera?.exposureSeconds, truth.exposureSeconds, close)
    add(.fNumber, camera?.fNumber, truth.fNumber, close)
    add(.iso, camera?.iso, truth.iso, ==)
    add(.focalLength, camera?.focalLengthMillimeters, truth.focalLength, close)
    add(.flash, camera?.flashFired, truth.flashFired, ==)
    let hasPlace = truth.latitude != nil && truth.longitude != nil
    add(.latitude, facts.location?.latitude, hasPlace ? truth.latitude : nil, close)
    add(.longitude, facts.location?.longitude, hasPlace ? truth.longitude : nil, close)
    add(.altitude, facts.location?.altitude, truth.altitude, close)
    add(.orientation, facts.orientation, truth.orientation, ==)
    let size = facts.pixelWidth.flatMap { width in facts.pixelHeight.map { [width, $0] } }
    add(.dimensions, size, truth.size, ==)
    let tolerance = truth.durationIsOfATrack ? 0.1 : 0.001
    add(.duration, facts.durationSeconds, truth.duration) { abs($0 - $1) <= max($1 * 1e-4, tolerance) }
    // The shared MIME database does not distinguish them.
    let type = facts.contentType == "image/heif" ? "image/heic" : facts.contentType
    add(.contentType, type, truth.contentType, ==)
    add(.rating, facts.rating, truth.rating, ==)
    add(.keywords, facts.keywords.isEmpty ? nil : facts.keywords, truth.keywords, ==)
    add(.title, facts.title, truth.title, ==)
    // ExifTool also returns the default texts of cameras.
    let isDefault = truth.caption.map { CaptionDefaults.contains($0, camera ?? Camera()) } ?? false
    add(.caption, facts.caption, isDefault ? facts.caption : truth.caption, ==)
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
    let cells = Self.counted(comparisons, reasons)
    print("\nagreement with ExifTool over \(files) files; counted: files of a format where either says something")
    print(column("format", 16) + column("field", 16) + column("agree", 8) + column("of", 8) + "share")
    for (cell, all) in cells.sorted(by: {
      ($0.key.format, $0.key.field.rawValue) < ($1.key.format, $1.key.field.rawValue)
    }) {
      let agreeing = all.count(where: \.agrees)
      let share = String(format: "%.2f %%", 100 * Double(agreeing) / Double(all.count))
      print(
        column(cell.format, 16) + column(cell.field.rawValue, 16) + column("\(agreeing)", 8)
          + column("\(all.count)", 8) + share)
    }
    print("\ndifferences")
    for comparison in comparisons where !comparison.agrees {
      print(
        "  \(comparison.path)\n    \(comparison.field.rawValue): ours \(comparison.ours), ExifTool's \(comparison.theirs)"
      )
      print("    \(reasons["\(comparison.path)\t\(comparison.field.rawValue)"] ?? "UNEXPLAINED")")
    }
  }
}
