import PhotoModel

// The edits of an asset as fields `key=value`, in the journal of user data and in the catalog (table `asset_edit`).

extension AssetEdits {
  /// Takes the fields of edits. The other ones remain, and so does a value that this version can't read.
  init(_ fields: inout RecordFields) {
    rating = fields.value("rating") { Int($0) }
    title = fields.text("title")
    caption = fields.text("caption")
    while let keyword = fields.text("keyword") { addedKeywords.append(keyword) }
    while let keyword = fields.text("without") { removedKeywords.append(keyword) }
    creationDate = fields.photoDate("taken")
    location = fields.value("place") { $0 == "none" ? .remove : Location(recordText: $0).map(LocationEdit.set) }
  }

  /// Whether they have a value of the field with this key, of which a line has one at most.
  func hasOnlyValue(of key: String) -> Bool {
    switch key {
    case "rating": rating != nil
    case "taken": creationDate != nil
    case "place": location != nil
    default: false
    }
  }

  func write(to line: inout RecordLine) {
    if let rating { line.add("rating", Int64(rating)) }
    if let title { line.add("title", title) }
    if let caption { line.add("caption", caption) }
    for keyword in addedKeywords { line.add("keyword", keyword) }
    for keyword in removedKeywords { line.add("without", keyword) }
    if let creationDate { line.add("taken", creationDate.description) }
    switch location {
    case .set(let location): line.add("place", location.recordText)
    case .remove: line.add("place", "none")
    case nil: break
    }
  }

  /// The edits as text of the column `edits`.
  var recordText: [UInt8] {
    var line = RecordLine()
    write(to: &line)
    return line.bytes
  }

  init(recordText: [UInt8]) {
    var fields = RecordFields(recordText)
    self.init(&fields)
  }
}

extension EditableFields {
  /// The values as text of the column `file`.
  var recordText: [UInt8] {
    var line = RecordLine()
    if let title { line.add("title", title) }
    if let caption { line.add("caption", caption) }
    for keyword in keywords { line.add("keyword", keyword) }
    if let rating { line.add("rating", Int64(rating)) }
    if let location { line.add("place", location.recordText) }
    line.add("taken", created.date.description)
    line.add("source", created.source.code)
    return line.bytes
  }

  init(recordText: [UInt8]) {
    var fields = RecordFields(recordText)
    self.init(
      title: fields.text("title"), caption: fields.text("caption"), keywords: [],
      rating: fields.integer("rating").map { Int(clamping: $0) },
      location: fields.text("place").flatMap { Location(recordText: $0) },
      created: CreationDate(
        date: fields.photoDate("taken") ?? PhotoDate(microseconds: 0),
        source: CreationDateSource(code: fields.integer("source") ?? CreationDateSource.file.code)))
    while let keyword = fields.text("keyword") { keywords.append(keyword) }
  }
}

extension Location {
  /// Latitude, longitude and the altitude if it is known. The text of a number means exactly this number.
  fileprivate var recordText: String {
    "\(latitude),\(longitude)" + (altitude.map { ",\($0)" } ?? "")
  }

  fileprivate init?(recordText: String) {
    let numbers = recordText.split(separator: ",").map { Double($0) }
    guard (2...3).contains(numbers.count), let latitude = numbers[0], let longitude = numbers[1] else { return nil }
    self.init(latitude: latitude, longitude: longitude, altitude: numbers.count == 3 ? numbers[2] : nil)
  }
}

extension RecordFields {
  fileprivate mutating func photoDate(_ key: String) -> PhotoDate? { value(key) { PhotoDate($0) } }
}
