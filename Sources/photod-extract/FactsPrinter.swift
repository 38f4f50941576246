import ExtractRecords
import Glibc
import PhotoMetadata
import PhotoModel
import SystemErrors

/// Prints all facts of one file, for a person who looks for a fault.
enum FactsPrinter {
  /// - Returns: the exit status: 0 if the file was read without a failure, 65 if it has one (EX_DATAERR).
  /// - Throws: with the status 66 (EX_NOINPUT) if it can't be opened, and 65 if it is no regular file.
  static func run(path: String, isJSON: Bool) throws(ExtractorStartError) -> Int32 {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw ExtractorStartError(message: "\(path) can't be opened: \(errorText(errno))", status: 66)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ExtractorStartError(message: "\(path) is no regular file", status: 65)
    }
    // In the sandbox, only standard error can be written.
    guard dup2(STDOUT_FILENO, STDERR_FILENO) >= 0 else { throw ExtractorStartError(message: errorText(errno)) }
    try enterSandbox(socket: -1)
    var reader = MediaReader()
    let name = path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed()
    let facts = reader.facts(descriptor: descriptor, byteCount: Int64(status.st_size), name: Array(name))
    let fields = fields(facts)
    if isJSON {
      complain("{\(fields.map { "\(quoted($0.name)):\($0.value.json)" }.joined(separator: ","))}")
    } else {
      for (name, value) in fields {
        for line in value.lines { complain("\(name): \(escaped(line))") }
      }
    }
    return facts.failure == nil ? 0 : 65
  }

  /// A text of the file as one line that a terminal shows as it is. Control characters are written as in a Swift literal,
  /// because a line break would look like another field.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: escaped += scalar.escaped(asASCII: true)
      // Directional overrides reorder the rest of the line.
      case .format where (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value):
        escaped += scalar.escaped(asASCII: true)
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// The value of a field.
  private enum Value {
    case text(String)
    case texts([String])
    case number(any Numeric & CustomStringConvertible)
    case flag(Bool)

    /// One text for each line.
    var lines: [String] {
      switch self {
      case .text(let text): [text]
      case .texts(let texts): texts
      case .number(let number): [number.description]
      case .flag(let flag): [flag.description]
      }
    }

    var json: String {
      switch self {
      case .text(let text): quoted(text)
      case .texts(let texts): "[\(texts.map(quoted).joined(separator: ","))]"
      case .number(let number): number.description
      case .flag(let flag): flag.description
      }
    }
  }

  /// A string of JSON (RFC 8259, section 7).
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// The fields that the file has, in the order of the contract.
  private static func fields(_ facts: MediaFacts) -> [(name: String, value: Value)] {
    var fields: [(String, Value)] = []
    func add(_ name: String, _ value: Value?) {
      if let value { fields.append((name, value)) }
    }
    func add(_ name: String, text: String?) { add(name, text.map { .text($0) }) }
    func add(_ name: String, texts: [String]) { add(name, texts.isEmpty ? nil : .texts(texts)) }
    func add(_ name: String, number: (some Numeric & CustomStringConvertible)?) {
      add(name, number.map { .number($0) })
    }
    add("mediaType", text: facts.mediaType.rawValue)
    add("contentType", text: facts.contentType)
    add("mediaSubtypes", texts: facts.mediaSubtypes.names)
    add("creationDate", text: facts.creationDate?.description)
    add("pixelWidth", number: facts.pixelWidth)
    add("pixelHeight", number: facts.pixelHeight)
    add("orientation", number: facts.orientation)
    add("durationSeconds", number: facts.durationSeconds)
    add("latitude", number: facts.location?.latitude)
    add("longitude", number: facts.location?.longitude)
    add("altitude", number: facts.location?.altitude)
    add("make", text: facts.camera?.make)
    add("model", text: facts.camera?.model)
    add("lens", text: facts.camera?.lens)
    add("exposureSeconds", number: facts.camera?.exposureSeconds)
    add("fNumber", number: facts.camera?.fNumber)
    add("iso", number: facts.camera?.iso)
    add("focalLengthMillimeters", number: facts.camera?.focalLengthMillimeters)
    add("flashFired", facts.camera?.flashFired.map { .flag($0) })
    add("title", text: facts.title)
    add("caption", text: facts.caption)
    add("keywords", texts: facts.keywords)
    add("rating", number: facts.rating)
    add("burstIdentifier", text: facts.burstIdentifier)
    add("contentIdentifier", text: facts.contentIdentifier)
    add("fingerprint", text: facts.marks.fingerprint.map { String($0, radix: 16) })
    add("sample", text: facts.marks.sample?.text)
    add("hash", text: facts.marks.hash?.text)
    add("failure", text: facts.failure)
    add("readError", number: facts.readError)
    return fields
  }
}
