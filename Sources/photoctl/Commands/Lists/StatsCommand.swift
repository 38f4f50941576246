import ArgumentParser
import PhotoClient
import PhotoModel

struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Counts assets by year, camera, lens, or other values.",
    discussion: """
      It takes the filters of `photoctl query`, and counts the assets of that list. photod does the counting, so that \
      it is fast in a large library, too. Hidden assets are counted only with --hidden.

      On a terminal, it prints a bar for each value. In a pipe, it prints one JSON object on each line, with 'value' and \
      'count'. Assets without a value are counted in the last line. Its value is null in JSON, empty in CSV and TSV, \
      and a text such as (no lens) in a table.

      Dates and numbers are in their order, and all other values by their counts, the largest first. With --limit, it \
      prints only the values with the largest counts. It never prints more than 10,000 values.

      VALUES OF --by
        year month day           when it was taken, by the clock at its place
        date-source              where this date comes from
        camera make model lens   camera is the make and the model together
        iso aperture             the ISO speed, and the f-number
        focal-length             in millimetres
        type subtype format      for example image, screenshot, image/jpeg
        rating keyword           0 to 5, and each keyword
        folder                   by path
        album                    by the name that --album takes. An asset may be
                                 in several albums, and have several keywords.

      EXAMPLES
        photoctl stats
        photoctl stats --by month --taken 2024
        photoctl stats --by lens --camera 'X-T5'
        photoctl stats --by keyword --limit 20
        photoctl stats --by camera --under ~/Pictures/Travel --json
        photoctl stats --by iso --where "camera.fNumber < 2" --format csv
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(help: ArgumentHelp("The values to count by.", valueName: "value"))
  var by: StatsKey = .year

  @OptionGroup var filter: FilterOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Print at most this many values, those with the largest counts.", valueName: "n"),
    transform: { try NumberArgument.whole($0, "a number, 1 or more") })
  var limit: Int?

  @OptionGroup var formats: FormatOptions<StatsFormat>

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is \(limit); it must be 1 or more.") }
  }

  func run() async throws {
    let library = connection.library
    let filter = try await filter.inFolders(of: library)
    try await filter.explaining(in: "stats", library) {
      let options = try filter.fetchOptions()
      try await library.warnOfUnfinishedScan()
      let counts = try await library.values(of: by.valueKey, limit: min(limit ?? Self.most, Self.most), in: options)
      if counts.total > counts.values.count, counts.values.count < limit ?? .max {
        Output.complain(
          "photoctl: only \(Text.grouped(counts.values.count)) of \(Text.grouped(counts.total)) values are shown, "
            + "those with the largest counts.\n")
      }
      let format = formats.chosen ?? (Output.isTerminal ? .table : .jsonl)
      let lines = by.lines(of: counts)
      try Output.put(
        try StatsText.bytes(lines, by, format, style: connection.style, columns: Output.terminalColumns))
      if lines.isEmpty, format == .table { Output.complain("No photos were found.\n") }
    }
  }

  /// The most values of a reply, by the contract.
  private static let most = 10_000
}

/// The formats of counts. They have no paths.
enum StatsFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case table, json, jsonl, csv, tsv
}

extension StatsFormat: PrintedFormat {
  static var help: ArgumentHelp { "The output format (default: table on a terminal, else jsonl)." }
}
