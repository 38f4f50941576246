import Testing

@testable import PhotoCatalog

/// The numbers of sort keys are in SQLite's order of the values.
@Suite struct SortNumberTests {
  private static let integers: [Int64] = [.min, .min + 2, -1 << 53 - 1, -2, -1, 0, 1, 2, 1 << 53 + 1, .max - 1, .max]
  private static let reals: [Double] = [
    -.infinity, -.greatestFiniteMagnitude, -1.5, -.leastNonzeroMagnitude, -0.0, 0, .leastNonzeroMagnitude, 0.1,
    1, .greatestFiniteMagnitude, .infinity,
  ]
  private static let texts: [[UInt8]] = [
    [], [0], [0, 0], [0x41], [0x41, 0], [0x41, 0x42], [0x80], [0xff], Array("abcdefgh".utf8), Array("abcdefgh\0".utf8),
    Array("abcdefghi".utf8), Array("abcdefgz".utf8), Array("日本".utf8), [UInt8](repeating: 0xff, count: 9),
  ]

  @Test(arguments: [integers.map(SQLValue.integer), reals.map(SQLValue.real), texts.map(SQLValue.text)])
  func numbersAreInTheOrderOfSQLite(values: [SQLValue]) throws {
    let fixture = try CatalogFixture()
    try fixture.execute("CREATE TABLE value (v)")
    for value in values.reversed() + [nil] { try fixture.execute("INSERT INTO value VALUES (?)", [value]) }
    var sorted: [(number: UInt64, isText: Bool, isEqualToLast: Bool)] = []
    try fixture.catalog.read { reader in
      let select = try RawStatement(
        reader.database, "SELECT v, typeof(v) = 'text', v IS lag(v) OVER (ORDER BY v) FROM value ORDER BY v")
      try select.forEachRow { sorted.append((select.sortNumber(0), select.bool(1), select.bool(2))) }
    }
    #expect(sorted.count == values.count + 1 && sorted[0].number == SortNumber.absent)
    for (last, next) in zip(sorted, sorted.dropFirst()) {
      #expect(last.number <= next.number)
      // The numbers of texts are approximate. The numbers of numeric values differ for all values, and for an absent
      // one.
      if next.isEqualToLast { #expect(last.number == next.number) }
      if !next.isEqualToLast && !next.isText { #expect(last.number < next.number) }
    }
  }
}
