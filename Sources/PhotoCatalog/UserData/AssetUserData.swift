import PhotoModel

/// All user data of one asset, except the albums that it is in.
package struct AssetUserData: Hashable, Sendable {
  package var isFavorite: Bool
  package var isHidden: Bool
  package var edits = AssetEdits()

  package init(isFavorite: Bool = false, isHidden: Bool = false, edits: AssetEdits = AssetEdits()) {
    self.isFavorite = isFavorite
    self.isHidden = isHidden
    self.edits = edits
  }

  package var isEmpty: Bool { !isFavorite && !isHidden && edits.isEmpty }

  /// The fields of an asset that differ between both.
  func changedFields(since old: AssetUserData) -> ChangedFields {
    var fields: ChangedFields = []
    if isFavorite != old.isFavorite { fields.insert(.favorite) }
    if isHidden != old.isHidden { fields.insert(.hidden) }
    if (edits.addedKeywords, edits.removedKeywords) != (old.edits.addedKeywords, old.edits.removedKeywords) {
      fields.insert(.keywords)
    }
    var rest = edits
    (rest.addedKeywords, rest.removedKeywords) = (old.edits.addedKeywords, old.edits.removedKeywords)
    if rest != old.edits { fields.insert(.metadata) }
    return fields
  }
}

/// The values that a person typed for one asset. They count instead of those of its file. A nil field was not typed.
package struct AssetEdits: Hashable, Sendable {
  package var rating: Int?
  /// If it is empty, the asset has no title, whatever its file says.
  package var title: String?
  /// As ``title``.
  package var caption: String?
  /// The keywords that the asset has beside those of its file, in the order in which they were typed.
  package var addedKeywords: [String] = []
  /// The keywords of its file that the asset does not have.
  package var removedKeywords: [String] = []
  package var creationDate: PhotoDate?
  package var location: LocationEdit?

  package init() {}

  package var isEmpty: Bool { self == AssetEdits() }
}

/// The fields of an asset that a person can edit: as its file has them, or as the asset has them after its edits.
package struct EditableFields: Hashable, Sendable {
  package var title: String?
  package var caption: String?
  package var keywords: [String]
  package var rating: Int?
  package var location: Location?
  package var created: CreationDate

  /// The fields of an asset with these values of its file and these edits.
  package func edited(by edits: AssetEdits) -> EditableFields {
    var fields = self
    if let title = edits.title { fields.title = title.isEmpty ? nil : title }
    if let caption = edits.caption { fields.caption = caption.isEmpty ? nil : caption }
    if !edits.removedKeywords.isEmpty { fields.keywords.removeAll(where: Set(edits.removedKeywords).contains) }
    if !edits.addedKeywords.isEmpty {
      let known = Set(fields.keywords)
      fields.keywords += edits.addedKeywords.filter { !known.contains($0) }
    }
    if let rating = edits.rating { fields.rating = rating }
    switch edits.location {
    case .set(let location): fields.location = location
    case .remove: fields.location = nil
    case nil: break
    }
    if let date = edits.creationDate { fields.created = CreationDate(date: date, source: .user) }
    return fields
  }
}

extension AssetUserData {
  /// Makes an edit.
  ///
  /// - Parameter file: the values of the file. Few edits need them.
  mutating func apply(_ edit: AssetEdit, to file: @autoclosure () throws -> EditableFields) rethrows {
    for field in edit.cleared { clear(field) }
    if let isFavorite = edit.isFavorite { self.isFavorite = isFavorite }
    if let isHidden = edit.isHidden { self.isHidden = isHidden }
    if let rating = edit.rating { edits.rating = rating }
    if let title = edit.title { edits.title = title }
    if let caption = edit.caption { edits.caption = caption }
    if let location = edit.location { edits.location = location }
    for keyword in edit.addedKeywords {
      edits.removedKeywords.removeAll { $0 == keyword }
      if !edits.addedKeywords.contains(keyword) { edits.addedKeywords.append(keyword) }
    }
    if !edit.removedKeywords.isEmpty {
      let known = Set(try file().keywords)
      for keyword in edit.removedKeywords {
        edits.addedKeywords.removeAll { $0 == keyword }
        if known.contains(keyword), !edits.removedKeywords.contains(keyword) { edits.removedKeywords.append(keyword) }
      }
    }
    switch edit.creationDate {
    case .set(let date): edits.creationDate = date
    case .shift(let seconds):
      edits.creationDate = try (edits.creationDate ?? file().created.date).shifted(bySeconds: seconds)
    case nil: break
    }
  }

  private mutating func clear(_ field: ClearableField) {
    switch field {
    case .isFavorite: isFavorite = false
    case .isHidden: isHidden = false
    case .rating: edits.rating = nil
    case .title: edits.title = nil
    case .caption: edits.caption = nil
    case .keywords: (edits.addedKeywords, edits.removedKeywords) = ([], [])
    case .creationDate: edits.creationDate = nil
    case .location: edits.location = nil
    }
  }
}

extension PhotoDate {
  /// The date this many seconds later, with the same offset. It stays within the years 1 to 9999.
  fileprivate func shifted(bySeconds seconds: Double) -> PhotoDate {
    // The limit is more than 9,999 years. Larger numbers may not fit into the sum.
    let limit = 1e18
    let distance = min(max((seconds * 1_000_000).rounded(), -limit), limit)
    return PhotoDate(microseconds: microseconds + Int64(distance), offsetMinutes: offsetMinutes)
  }
}

extension AssetContent {
  /// This content with other values of the editable fields, except the creation date.
  func with(_ fields: EditableFields) -> AssetContent {
    var content = self
    content.title = fields.title
    content.caption = fields.caption
    content.keywords = fields.keywords
    content.rating = fields.rating
    content.location = fields.location
    return content
  }

  /// - Parameter created: the creation date of the asset without a person's edit.
  func editableFields(_ created: CreationDate) -> EditableFields {
    EditableFields(
      title: title, caption: caption, keywords: keywords, rating: rating, location: location, created: created)
  }
}
