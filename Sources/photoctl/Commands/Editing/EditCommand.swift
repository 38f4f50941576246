import ArgumentParser
import PhotoClient
import PhotoModel
import PredicateLanguage

struct EditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Edits the title, caption, keywords, rating, date or place of assets.",
    discussion: """
      The edits are kept in the library, beside the values of the files. The photo files are not changed, and a program that \
      writes to a file later changes no edit. --clear title brings back the title of the file, and --clear title,rating also its rating.

      An empty title or caption means that the asset has none, even if its file has one. A keyword with a minus is \
      removed: --keyword=-sea. --location none removes the place.

      --date takes a date, or a date with a time, such as 2024-07-21T10:00:00. That is the time at the photo's place, \
      and without a time it is the midnight at which this day begins. An offset such as +02:00 may follow. --shift corrects a camera whose clock was wrong: it adds a time such as 1h30m, 90s or \
      -2d to the date of each asset.

      --where, --text, --album, --under and --taken choose all visible assets that match each of them, and with \
      --hidden all hidden ones.

      FIELDS OF --clear
        title caption keywords rating creationDate location isFavorite isHidden
        keyword, date, favorite and hidden are other names of four of them

      EXAMPLES
        photoctl edit 42 --title "Trevi Fountain" --keyword rome --keyword fountain
        photoctl edit IMG_0001.jpg --keyword=-sea --rating 4
        photoctl edit --where "ANY keywords == 'rome'" --location 41.9009,12.4833
        photoctl edit --under ~/Pictures/Rome --keyword rome
        photoctl query --camera X-T5 --taken 2024-07 | photoctl edit --shift=-1h -
        photoctl edit 42 --clear title,keywords
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(parsing: .unconditional, help: ArgumentHelp("The title; empty for none.", valueName: "text"))
  var title: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("The caption; empty for none.", valueName: "text"))
  var caption: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A keyword to add, or with a minus before it to remove. May be given several times.", valueName: "[+-]word"))
  var keyword: [String] = []

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The rating, 0 to 5.", valueName: "stars"),
    completion: .list(["0", "1", "2", "3", "4", "5"]),
    transform: { try NumberArgument.whole($0, "a number from 0 to 5") })
  var rating: Int?

  @Option(help: ArgumentHelp("When it was taken, such as 2024-07-21T10:00:00.", valueName: "date"))
  var date: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Add this time to the date of each asset, such as 1h30m or -2d.", valueName: "time"),
    transform: { try TimeShift($0) })
  var shift: TimeShift?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Where it was taken, in degrees and metres; none for no place. South and west are negative.",
      valueName: "lat,lon[,alt]"), transform: { try PlaceArgument($0) })
  var location: PlaceArgument?

  @Option(
    help: ArgumentHelp("Fields that get the values of the file again.", valueName: "field,..."),
    completion: .list(ClearableField.allCases.map(\.rawValue)))
  var clear: String?

  @Flag(
    name: [.customShort("n"), .customLong("dry-run")],
    help: "Print how many assets would be edited, and change nothing.")
  var isDryRun = false

  @OptionGroup var assets: ChosenAssets
  @OptionGroup var json: JSONOption

  func validate() throws {
    try assets.validateSome()
    if let rating, !(0...5).contains(rating) { throw ValidationError("--rating is \(rating); it must be 0 to 5.") }
    if let date, PhotoDate(date) == nil { throw ValidationError("--date is '\(date)'; \(Self.mistake(inDate: date)).") }
    if date != nil && shift != nil { throw ValidationError("--date and --shift can't be used together.") }
    for field in clearedFields where Self.field(field) == nil {
      let known = ClearableField.allCases.map(\.rawValue)
      let similar = Spelling.nearest(to: field, among: known).map { " Did you mean \($0)?" } ?? ""
      throw ValidationError("--clear has '\(field)'; it must be one of \(known.joined(separator: ", ")).\(similar)")
    }
    try TextBound.check("--title", title, "EditAsset.title")
    try TextBound.check("--caption", caption, "EditAsset.caption")
    let (added, removed) = keywords
    for word in keyword {
      let text = Self.withoutSign(word)
      if text.allSatisfy(\.isWhitespace) { throw ValidationError("--keyword is '\(word)'; it must have a keyword.") }
      try TextBound.check("--keyword", text, "EditAsset.addKeywords")
    }
    if let both = added.first(where: removed.contains) {
      throw ValidationError("--keyword adds '\(both)' and also removes it. Give only one of them.")
    }
    let given: [ClearableField: (option: String, isGiven: Bool)] = [
      .title: ("--title", title != nil), .caption: ("--caption", caption != nil),
      .keywords: ("--keyword", !keyword.isEmpty), .rating: ("--rating", rating != nil),
      .creationDate: (date != nil ? "--date" : "--shift", date != nil || shift != nil),
      .location: ("--location", location != nil),
    ]
    for name in clearedFields {
      guard let field = Self.field(name), let (option, isGiven) = given[field], isGiven else { continue }
      throw ValidationError("--clear has '\(name)', which \(option) sets. Give only one of them.")
    }
    if request([]) == .init(ids: []) {
      throw ValidationError("Nothing is to be edited. Give --title, --keyword, --rating or another option.")
    }
  }

  /// The mistake in a date that can't be parsed.
  private static func mistake(inDate date: String) -> String {
    let day = String(date.prefix(10))
    if day.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil {
      do {
        _ = try TakenArgument(day)
      } catch let mistake as TakenArgument.Mistake {
        return mistake.description
      } catch {}
    }
    return "it must be a date such as 2024-07-21 or 2024-07-21T10:00:00+02:00"
  }

  func run() async throws {
    try await connection.library.edit(
      assets, isDryRun: isDryRun, printsJSON: json.isOn,
      summary: isDryRun
        ? ("photo would be edited", "photos would be edited") : ("photo was edited", "photos were edited"),
      unchanged: ("photo had these values already", "photos had these values already"), request)
  }

  /// The names by which options and commands of photoctl know fields.
  private static let otherNames: [String: ClearableField] = [
    "keyword": .keywords, "date": .creationDate, "favorite": .isFavorite, "hidden": .isHidden,
  ]

  /// The field with a name of `--clear`; nil if there is none.
  private static func field(_ name: String) -> ClearableField? { ClearableField(rawValue: name) ?? otherNames[name] }

  /// The names of `--clear`, as they were given.
  private var clearedFields: [String] {
    clear?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
  }

  private var keywords: (added: [String], removed: [String]) {
    (
      keyword.filter { !$0.hasPrefix("-") }.map(Self.withoutSign),
      keyword.filter { $0.hasPrefix("-") }.map(Self.withoutSign)
    )
  }

  private static func withoutSign(_ word: String) -> String {
    word.hasPrefix("-") || word.hasPrefix("+") ? String(word.dropFirst()) : word
  }

  func request(_ ids: [AssetID]) -> ChangeRequest.EditAsset {
    var edit = ChangeRequest.EditAsset(ids: ids)
    (edit.title, edit.caption, edit.rating, edit.creationDate) = (title, caption, rating, date)
    edit.shiftCreationDate = shift?.seconds
    edit.location = location?.location
    if location != nil, location?.location == nil { edit.removeLocation = true }
    let (added, removed) = keywords
    if !added.isEmpty { edit.addKeywords = added }
    if !removed.isEmpty { edit.removeKeywords = removed }
    if !clearedFields.isEmpty { edit.clear = clearedFields.compactMap { Self.field($0)?.rawValue } }
    return edit
  }
}

/// A time to add to dates: numbers, each with the unit d, h, m or s, such as `1h30m` or `-2d`.
struct TimeShift: Hashable, Sendable {
  let seconds: Double

  struct Mistake: Error, Equatable, CustomStringConvertible {
    let description = "it must be a time such as 1h30m, 90s or -2d; each number has the unit d, h, m or s"
  }

  init(_ argument: String) throws {
    let isNegative = argument.hasPrefix("-")
    var rest = argument.drop { $0 == "-" || $0 == "+" }
    guard !rest.isEmpty, argument.count - rest.count <= 1 else { throw Mistake() }
    var sum = 0.0
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest = rest.dropFirst(digits.count)
      let factors: [Character: Double] = ["d": 86_400, "h": 3_600, "m": 60, "s": 1]
      guard let number = Double(digits), let unit = rest.popFirst(), let factor = factors[unit] else {
        throw Mistake()
      }
      sum += number * factor
    }
    guard sum.isFinite else { throw Mistake() }
    seconds = isNegative ? -sum : sum
  }
}

/// A place: a latitude and a longitude in degrees, and perhaps an altitude in metres. `none` is no place.
struct PlaceArgument: Hashable, Sendable {
  let location: Location?

  struct Mistake: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  init(_ argument: String) throws {
    if argument == "none" {
      location = nil
      return
    }
    let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { part in
      Double(part.drop { $0 == " " })
    }
    guard (2...3).contains(numbers.count), numbers.allSatisfy({ $0?.isFinite ?? false }), let latitude = numbers[0],
      let longitude = numbers[1]
    else {
      throw Mistake(description: "it must be a latitude and a longitude in degrees, such as 41.9009,12.4833, or none")
    }
    guard abs(latitude) <= 90 else {
      throw Mistake(
        description:
          "the latitude \(roundedText(latitude, decimals: 10)) is not between -90 and 90; it is the first of the numbers"
      )
    }
    guard abs(longitude) <= 180 else {
      throw Mistake(description: "the longitude \(roundedText(longitude, decimals: 10)) is not between -180 and 180")
    }
    location = Location(latitude: latitude, longitude: longitude, altitude: numbers.count == 3 ? numbers[2] : nil)
  }
}
