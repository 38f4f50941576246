import Testing

@testable import PhotoModel

@Suite struct PredicateErrorTests {
  private static let known =
    "known are id, mediaType, creationDate, modificationDate, addedDate, pixelWidth, pixelHeight, orientation, "
    + "durationSeconds, title, caption, rating, isFavorite, isHidden, isTrashed, burstIdentifier, available, camera.make, "
    + "camera.model, camera.lens, camera.exposureSeconds, camera.fNumber, camera.iso, camera.focalLengthMillimeters, "
    + "camera.flashFired, location.latitude, location.longitude, location.altitude, filename, path, byteCount, contentType"

  @Test(arguments: [
    ("", "expected a key such as creationDate, NOT, or (, found the end", 0),
    ("camera.modle == 'X'", "'camera.modle' is no key; did you mean 'camera.model'? \(known)", 0),
    ("isfavorite == true", "'isfavorite' is no key; did you mean 'isFavorite'? \(known)", 0),
    ("model == 'X'", "'model' is no key; did you mean 'camera.model'? \(known)", 0),
    ("sharpness == 1", "'sharpness' is no key; \(known)", 0),
    ("id == 1 AND", "expected a key such as creationDate, NOT, or (, found the end", 11),
    ("5 == id", "expected a key such as creationDate, NOT, or (, found the number 5", 0),
    ("rating", "expected an operator after rating: ==, !=, <, <=, >, >=, CONTAINS, BEGINSWITH or IN, found the end", 6),
    (
      "title LIKE 'a*'",
      "expected an operator after title: ==, !=, <, <=, >, >=, CONTAINS, BEGINSWITH or IN, found LIKE, which is not supported",
      6
    ),
    ("title CONTAINS[c] 'a'", "modifiers such as [c] are not supported yet; texts are compared exactly", 14),
    ("title ==[c] 'a'", "expected a text in quotes, or nil, for title, found [", 8),
    ("rating == '3'", "expected a number, or nil, for rating, found the text '3'", 10),
    ("rating > nil", "nil can only be compared by == and !=", 9),
    ("rating CONTAINS 3", "CONTAINS is for texts; rating is compared with a number", 7),
    ("isFavorite == 1", "expected true or false, or nil, for isFavorite, found the number 1", 14),
    ("isFavorite < true", "isFavorite has no order; expected ==, != or IN", 11),
    ("title == Meer", "expected a text in quotes, or nil, for title, found 'Meer'", 9),
    ("title == 'Meer", "the text that begins here has no closing '", 9),
    ("title == 'a\\q'", "'\\q' is no escape; \\\\ \\' \\\" \\n \\t \\r \\u{1F600} are known", 11),
    ("title == '\\u{110000}'", "\\u{…} takes the hexadecimal number of a Unicode scalar", 10),
    ("title == 'a\\u{0}'", "a text can't contain the character NUL", 11),
    (
      "creationDate > '2024-13-01'",
      "'2024-13-01' is no date; expected a date in quotes, such as '2024-01-31' or '2024-07-21T10:00:00+02:00' for creationDate",
      15
    ),
    (
      "creationDate > 2024-01-01",
      "expected a date in quotes, such as '2024-01-31' or '2024-07-21T10:00:00+02:00' for creationDate, "
        + "found the number 2024", 15
    ),
    (
      "mediaType == 'photo'",
      "'photo' is no media type; expected one of 'image', 'video', 'audio', 'unknown', or nil, for mediaType", 13
    ),
    ("id IN (1)", "expected { and the values of the list, found (", 6),
    ("id IN {1, nil}", "nil can't be in a list; write id == nil OR …", 10),
    ("id IN {1 2}", "expected , or } for the { at position 6, found the number 2", 9),
    ("(id == 1", "expected AND, OR, or ) for the ( at position 0, found the end", 8),
    ("id == 1)", "there is no ( for this )", 7),
    ("id == 1 id == 2", "expected AND, OR, or the end, found 'id'", 8),
    ("id & 1", "'&' means nothing in a predicate; a text is written in quotes", 3),
    ("id == 1.", "a digit is missing after the decimal point", 8),
    ("id == 1e", "a digit is missing in the exponent", 8),
    ("id == 12x", "'x' is no part of a number; a text or date is written in quotes", 8),
    ("id == 1e999", "the number is too large", 6),
    // Positions count scalars, not bytes and not what is seen as one character.
    ("title == '👨‍👩‍👧' id", "expected AND, OR, or the end, found 'id'", 17),
  ])
  func messageSaysWhatWasExpectedAndWhere(text: String, message: String, position: Int) {
    do {
      let predicate = try Predicate(parsing: text)
      Issue.record("parsed as \(predicate)")
    } catch {
      #expect(error == PredicateError(message, at: position))
    }
  }

  @Test func boundsAreErrors() {
    func message(_ text: String) -> String? {
      do {
        _ = try Predicate(parsing: text)
        return nil
      } catch { return error.message }
    }
    let deep = { (n: Int) in String(repeating: "(", count: n) + "id==1" + String(repeating: ")", count: n) }
    #expect(message(deep(199)) == nil)
    #expect(message(deep(200)) == "more than 200 parentheses and NOTs within each other")
    #expect(message(String(repeating: "!", count: 65_000)) == "more than 200 parentheses and NOTs within each other")
    let wide = { (n: Int) in Array(repeating: "id==1", count: n).joined(separator: "||") }
    #expect(message(wide(500)) == nil)
    #expect(message(wide(501)) == "more than 500 comparisons; many values of one key are written key IN {…}")
    let list = { (n: Int) in "id IN {" + Array(repeating: "1", count: n).joined(separator: ",") + "}" }
    #expect(message(list(5_000)) == nil)
    #expect(message(list(5_001)) == "more than 5000 values in lists")
    #expect(
      message(String(repeating: " ", count: 65_537)) == "the predicate has 65537 bytes, at most 65536 are allowed")
  }

  /// Pieces of the grammar thrown together, and good predicates with scalars replaced: an error or a predicate, never a trap,
  /// and an error's position lies within the text.
  @Test func anyTextIsParsedOrRefused() throws {
    var generator = SeededGenerator(seed: 77)
    let pieces = [
      "id", "title", "creationDate", "camera.", "==", "!=", "<", "IN", "{", "}", "(", ")", ",", "AND", "or", "NOT", "!",
      "'", "\"",
      "\\", "\\u{", "1", "-", ".", "e", "1e5", "nil", "true", "'2024-01-01'", "'x'", " ", "\u{301}", "👍", "\0", "[c]",
      "CONTAINS", "&", "=",
    ]
    let good = "NOT (title CONTAINS 'a\\'b' OR id IN {1, 2.5e3}) AND creationDate >= '2024-07-21T10:00:00+02:00'"
    var parsed = 0
    for round in 0..<8_000 {
      var text = ""
      if round % 2 == 0 {
        for _ in 0..<Int.random(in: 1...12, using: &generator) { text += pieces.randomElement(using: &generator) ?? "" }
      } else {
        var scalars = Array(good.unicodeScalars)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          let piece = (pieces.randomElement(using: &generator) ?? "").unicodeScalars
          let start = Int.random(in: 0..<scalars.count, using: &generator)
          scalars.replaceSubrange(start..<min(scalars.count, start + Int(generator.next() % 3)), with: piece)
        }
        text = String(String.UnicodeScalarView(scalars))
      }
      switch Result(catching: { () throws(PredicateError) in try Predicate(parsing: text) }) {
      case .success(let predicate):
        parsed += 1
        #expect(try Predicate(parsing: predicate.description).description == predicate.description)
      case .failure(let error):
        #expect((0...text.unicodeScalars.count).contains(error.position))
      }
    }
    #expect(parsed > 30)
  }
}
