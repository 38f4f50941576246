import ExtractRecords
import Glibc
import PhotoMetadata
import PhotoModel

/// Prints all facts of one file, for a person who looks for a fault.
enum FactsPrinter {
  /// - Returns: the exit status: 0 if the file was read without a failure, 65 if it has one (EX_DATAERR).
  /// - Throws: with the status 66 (EX_NOINPUT) if it can't be opened, and 65 if it is no regular file.
  static func run(path: String) throws(StartError) -> Int32 {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw StartError(message: "\(path) can't be opened: \(describe(errno))", status: 66) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw StartError(message: "\(path) is no regular file", status: 65)
    }
    // In the sandbox, only standard error can be written.
    guard dup2(STDOUT_FILENO, STDERR_FILENO) >= 0 else { throw StartError(message: describe(errno)) }
    try enterSandbox(socket: -1)
    var reader = MediaReader()
    let name = path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed()
    let facts = reader.facts(descriptor: descriptor, byteCount: Int64(status.st_size), name: Array(name))
    for (name, value) in lines(facts) { complain("\(name): \(escaped(value))") }
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

  /// The fields that the file has, in the order of the contract.
  private static func lines(_ facts: MediaFacts) -> [(String, String)] {
    var lines: [(String, String)] = []
    func add(_ name: String, _ value: (some Any)?) {
      if let value { lines.append((name, "\(value)")) }
    }
    add("mediaType", facts.mediaType.rawValue)
    add("contentType", facts.contentType)
    if !facts.mediaSubtypes.isEmpty { add("mediaSubtypes", facts.mediaSubtypes.names.joined(separator: " ")) }
    add("creationDate", facts.creationDate)
    if let width = facts.pixelWidth, let height = facts.pixelHeight { add("size", "\(width) × \(height)") }
    add("orientation", facts.orientation)
    add("durationSeconds", facts.durationSeconds)
    add("latitude", facts.location?.latitude)
    add("longitude", facts.location?.longitude)
    add("altitude", facts.location?.altitude)
    add("make", facts.camera?.make)
    add("model", facts.camera?.model)
    add("lens", facts.camera?.lens)
    add("exposureSeconds", facts.camera?.exposureSeconds)
    add("fNumber", facts.camera?.fNumber)
    add("iso", facts.camera?.iso)
    add("focalLengthMillimeters", facts.camera?.focalLengthMillimeters)
    add("flashFired", facts.camera?.flashFired)
    add("title", facts.title)
    add("caption", facts.caption)
    for keyword in facts.keywords { add("keyword", keyword) }
    add("rating", facts.rating)
    add("burstIdentifier", facts.burstIdentifier)
    add("contentIdentifier", facts.contentIdentifier)
    add("fingerprint", facts.marks.fingerprint.map { String($0, radix: 16) })
    add("sample", facts.marks.sample?.text)
    add("hash", facts.marks.hash?.text)
    add("failure", facts.failure)
    add("readError", facts.readError)
    return lines
  }
}
