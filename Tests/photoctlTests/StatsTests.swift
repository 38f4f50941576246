import ArgumentParser
import PhotoContract
import Testing

@testable import PredicateLanguage
@testable import photoctl

struct StatsTests {
  private func counts(_ values: [(String, Int)], absent: Int = 0) -> ValueCounts {
    ValueCounts(
      token: "t", values: values.map(\.0), counts: values.map(\.1), total: values.count, assetCount: 0,
      absentCount: absent)
  }

  private func text(
    _ lines: [ValueCount], _ key: StatsKey = .lens, _ format: StatsFormat = .table, columns: Int? = nil
  ) throws -> String {
    String(decoding: try StatsText.bytes(lines, key, format, columns: columns), as: UTF8.self)
  }

  @Test func datesAndNumbersAreInTheirOrder() {
    #expect(
      StatsKey.year.lines(of: counts([("2024", 9), ("1999", 1), ("2025", 1)])).map(\.value) == ["1999", "2024", "2025"])
    #expect(
      StatsKey.iso.lines(of: counts([("1600", 9), ("200", 5), ("64", 1)], absent: 2)).map(\.value)
        == ["64", "200", "1600", nil])
    #expect(StatsKey.lens.lines(of: counts([("b", 9), ("a", 1)], absent: 20)).map(\.value) == ["b", "a", nil])
  }

  @Test func everyKeyHasAKeyOfTheContract() throws {
    let known = Set(StatsKey.allCases.map(\.valueKey))
    #expect(known.count == StatsKey.allCases.count)
  }

  @Test func aTerminalHasBars() throws {
    let lines = [("2023", 1_600), ("2024", 400), ("2025", 1)].map { ValueCount(value: $0.0, count: $0.1) }
    #expect(
      try text(lines, .year, columns: 23) == """
        2023  1,600  ██████████
        2024    400  ██▌
        2025      1  ▏

        """)
    let long = [ValueCount(value: String(repeating: "x", count: 100), count: 5), ValueCount(value: nil, count: 10)]
    for columns in [10, 20, 40, 80, 200] {
      for line in try text(long, columns: columns).split(separator: "\n") {
        #expect(TextWidth.columns(of: line) <= max(columns, 16), "\(columns)")
      }
    }
    #expect(try text(long, columns: 80).contains("(no lens)"))
    #expect(try text([], columns: 80).isEmpty)
  }

  @Test func barsAreInEighths() {
    #expect((0...9).map { StatsText.bar($0, of: 8, 1) } == ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█", "█▏"])
    #expect(StatsText.bar(1, of: 1_000_000, 40) == "▏")
    #expect(StatsText.bar(5, of: 5, 0).isEmpty)
  }

  @Test func aPipeHasPlainTextAndNoBars() throws {
    let lines = [ValueCount(value: "XF35mm\u{1B}[31m", count: 1_234), ValueCount(value: nil, count: 7)]
    #expect(
      try text(lines) == """
        LENS         COUNT
        XF35mm?[31m   1234
        (no lens)        7

        """)
    #expect(
      try text(lines, .lens, .jsonl)
        == "{\"count\":1234,\"value\":\"XF35mm\\u001b[31m\"}\n{\"count\":7,\"value\":null}\n")
    #expect(try text([lines[1]], .lens, .json) == "[\n{\"count\":7,\"value\":null}\n]\n")
    #expect(try text([lines[1]], .lens, .csv) == "value,count\r\n,7\r\n")
    #expect(try text([], .lens, .json) == "[]\n")
    #expect(try text([], .lens, .csv) == "value,count\r\n")
  }

  @Test(arguments: [
    (["--by", "shoe"], "The value 'shoe' is invalid for '--by <value>'"), (["--limit", "0"], "--limit is 0"),
    (["--format", "paths"], "The value 'paths' is invalid"),
    (["--json", "--format", "csv"], "--json is --format json"),
    (["--sort", "id"], "Unknown option '--sort'"),
    (["--near", "1,2"], "it must be a latitude, a longitude and kilometres, such as 52.52,13.4,5"),
    (["--near", "1,2,3,4"], "it must be a latitude"), (["--near", "1,x,3"], "it must be a latitude"),
    (["--near", "nan,0,3"], "it must be a latitude"), (["--near", "0x10,0,3"], "it must be a latitude"),
    (
      ["--near", "151.2,-33.8,5"], "the latitude 151.2 is not between -90 and 90; it is the first of the three numbers"
    ),
    (["--near", "-33.8,190,5"], "the longitude 190 is not between -180 and 180"),
    (["--near", "0,0,0"], "the distance is 0 kilometres; it must be more than 0 and at most 20,020"),
    (["--near", "0,0,-5"], "the distance is -5 kilometres; it must be more"),
    (["--near", "0,0,30000"], "the distance is 30000 kilometres; it must be more than 0 and at most 20,020"),
    (["--subtype", "screenshots"], "Did you mean screenshot?"), (["--subtype", ""], "it must be one of livePhoto"),
    (["--lens", " "], "it must contain a word"),
  ])
  func mistakesAreNamed(arguments: [String], mistake: String) {
    do {
      _ = try Photoctl.parseAsRoot(["stats"] + arguments)
      Issue.record("\(arguments) was accepted")
    } catch {
      #expect(Photoctl.fullMessage(for: error).contains(mistake), "\(Photoctl.fullMessage(for: error))")
    }
  }

  @Test(arguments: [
    (["--near", "-33.86, 151.21,20"], "location NEAR {-33.86, 151.21, 20.0}"),
    (["--subtype", "raw", "--subtype", "hdr"], "ANY mediaSubtypes IN {'raw', 'hdr'}"),
    (["--lens", "XF 35"], "camera.lens CONTAINS[c] 'XF' AND camera.lens CONTAINS[c] '35'"),
    (["--lens", "a", "--lens", "b"], "((camera.lens CONTAINS[c] 'a') OR (camera.lens CONTAINS[c] 'b'))"),
  ])
  func filtersArePredicates(arguments: [String], predicate: String) throws {
    let command = try #require(try Photoctl.parseAsRoot(["stats"] + arguments) as? StatsCommand)
    #expect(try command.filter.fetchOptions().predicate == predicate)
    _ = try Predicate(parsing: predicate)
  }
}
