import PhotoModel

extension Predicate {
  /// Whether the predicate holds for an asset. A query that is compiled from the predicate must mean the same.
  package func matches(_ asset: Asset) -> Bool { prepared()(asset) }

  /// Returns ``matches(_:)`` for many assets: patterns are parsed once.
  package func prepared() -> (Asset) -> Bool {
    switch self {
    case .constant(let value): return { _ in value }
    case .comparison(let comparison): return comparison.prepared()
    case .and(let parts):
      let parts = parts.map { $0.prepared() }
      return { asset in parts.allSatisfy { $0(asset) } }
    case .or(let parts):
      let parts = parts.map { $0.prepared() }
      return { asset in parts.contains { $0(asset) } }
    case .not(let inner):
      let inner = inner.prepared()
      return { !inner($0) }
    }
  }
}

extension Predicate.Comparison {
  fileprivate func prepared() -> (Asset) -> Bool {
    let key = key
    let holds = holdsForOne()
    switch (question, quantifier) {
    case (.isAbsent, _): return { $0.values(of: key).isEmpty }
    case (.isPresent, _): return { !$0.values(of: key).isEmpty }
    case (.isNear(let circle), _):
      return { $0.location.map { circle.contains(latitude: $0.latitude, longitude: $0.longitude) } ?? false }
    case (_, .all): return { $0.values(of: key).allSatisfy(holds) }
    case (_, .any), (_, nil): return { $0.values(of: key).contains(where: holds) }
    }
  }

  private func holdsForOne() -> (Predicate.Literal) -> Bool {
    if let (test, isNegated) = test {
      return { value in
        switch value {
        case .string(let text): test.holds(text) != isNegated
        case .moment(let date): test.holds(date) != isNegated
        default: false
        }
      }
    }
    switch question {
    case .isAbsent, .isPresent, .isNear: return { _ in false }
    case .compares(let op, let wanted): return { $0.compares(op, wanted) }
    case .isIn(let wanted): return { value in wanted.contains { value.compares(.equal, $0) } }
    case .isBetween(let low, let high):
      return { $0.compares(.greaterOrEqual, low) && $0.compares(.lessOrEqual, high) }
    }
  }
}

extension Asset {
  /// The values of a key: none if it is absent, several for a list.
  package func values(of key: PredicateKey) -> [Predicate.Literal] {
    func string(_ value: String?) -> [Predicate.Literal] { value.map { [.string($0)] } ?? [] }
    func integer(_ value: Int?) -> [Predicate.Literal] { value.map { [.integer(Int64($0))] } ?? [] }
    func real(_ value: Double?) -> [Predicate.Literal] { value.map { [.real($0)] } ?? [] }
    func boolean(_ value: Bool?) -> [Predicate.Literal] { value.map { [.boolean($0)] } ?? [] }
    let resource = resources.first
    return switch key {
    case .id: [.integer(id.rawValue)]
    case .mediaType: [.mediaType(mediaType)]
    case .mediaSubtypes: mediaSubtypes.compactMap { MediaSubtypes(name: $0) }.map { .mediaSubtype($0) }
    case .creationDate: [.moment(creationDate)]
    case .creationDateSource: [.dateSource(creationDateSource)]
    case .modificationDate: [.moment(modificationDate)]
    case .addedDate: [.moment(addedDate)]
    case .pixelWidth: integer(pixelWidth)
    case .pixelHeight: integer(pixelHeight)
    case .orientation: integer(orientation)
    case .durationSeconds: real(durationSeconds)
    case .title: string(title)
    case .caption: string(caption)
    case .rating: integer(rating)
    case .isFavorite: boolean(isFavorite)
    case .isHidden: boolean(isHidden)
    case .isTrashed: boolean(isTrashed)
    case .burstIdentifier: string(burstIdentifier)
    case .available: boolean(available)
    case .cameraMake: string(camera?.make)
    case .cameraModel: string(camera?.model)
    case .cameraLens: string(camera?.lens)
    case .cameraExposureSeconds: real(camera?.exposureSeconds)
    case .cameraFNumber: real(camera?.fNumber)
    case .cameraISO: integer(camera?.iso)
    case .cameraFocalLengthMillimeters: real(camera?.focalLengthMillimeters)
    case .cameraFlashFired: boolean(camera?.flashFired)
    case .location: real(location?.latitude)
    case .locationLatitude: real(location?.latitude)
    case .locationLongitude: real(location?.longitude)
    case .locationAltitude: real(location?.altitude)
    case .filename: string(resource?.filename)
    case .path: string(resource?.path)
    case .byteCount: resource.map { [.integer($0.byteCount)] } ?? []
    case .contentType: string(resource?.contentType)
    case .keywords: keywords.map { .string($0) }
    case .keywordsCount: integer(keywords.count)
    case .resourcesPath: resources.map { .string($0.path) }
    case .resourcesFilename: resources.map { .string($0.filename) }
    case .resourcesByteCount: resources.map { .integer($0.byteCount) }
    case .resourcesContentType: resources.map { .string($0.contentType) }
    case .resourcesCount: integer(resources.count)
    }
  }
}

extension Predicate.Literal {
  /// Compares an asset's value with one in the predicate. False for types without a common order.
  fileprivate func compares(_ op: Predicate.Operator, _ other: Self) -> Bool {
    switch (self, other) {
    case (.string(let a), .string(let b)):
      switch op {
      case .contains: b.utf8.isEmpty || Self.contains(Array(a.utf8), Array(b.utf8))
      case .beginsWith: a.utf8.starts(with: b.utf8)
      case .equal: a.utf8.elementsEqual(b.utf8)
      case .notEqual: !a.utf8.elementsEqual(b.utf8)
      case .less: a.utf8.lexicographicallyPrecedes(b.utf8)
      case .lessOrEqual: !b.utf8.lexicographicallyPrecedes(a.utf8)
      case .greater: b.utf8.lexicographicallyPrecedes(a.utf8)
      case .greaterOrEqual: !a.utf8.lexicographicallyPrecedes(b.utf8)
      case .endsWith, .like, .matches: false  // these are done by a test
      }
    case (.integer(let a), .integer(let b)): Self.orders(a, op, b)
    case (.real(let a), .real(let b)): Self.orders(a, op, b)
    case (.real(let a), _) where a.isNaN: false
    // SQLite compares an integer with a real exactly, too.
    case (.integer(let a), .real(let b)): Self.ordersExactly(a, op, b)
    case (.real(let a), .integer(let b)): Self.ordersExactly(b, op.mirrored, a)
    case (.moment(let a), .date(let b)): Self.orders(a.microseconds(by: b.clock), op, b)
    case (.boolean(let a), .boolean(let b)): op == .equal ? a == b : op == .notEqual && a != b
    case (.mediaType(let a), .mediaType(let b)): op == .equal ? a == b : op == .notEqual && a != b
    case (.mediaSubtype(let a), .mediaSubtype(let b)): op == .equal ? a == b : op == .notEqual && a != b
    case (.dateSource(let a), .dateSource(let b)): op == .equal ? a == b : op == .notEqual && a != b
    default: false
    }
  }

  private static func orders<Value: Comparable>(_ a: Value, _ op: Predicate.Operator, _ b: Value) -> Bool {
    switch op {
    case .equal: a == b
    case .notEqual: a != b
    case .less: a < b
    case .lessOrEqual: a <= b
    case .greater: a > b
    case .greaterOrEqual: a >= b
    case .contains, .beginsWith, .endsWith, .like, .matches: false
    }
  }

  /// Compares a moment with a span: before it, within it or after it.
  private static func orders(_ moment: Int64, _ op: Predicate.Operator, _ span: DateSpan) -> Bool {
    orders(moment < span.first ? -1 : moment > span.last ? 1 : 0, op, 0)
  }

  /// Compares without rounding the integer to a `Double`.
  private static func ordersExactly(_ a: Int64, _ op: Predicate.Operator, _ b: Double) -> Bool {
    let sign: Int
    if b >= 0x1p63 {
      sign = -1
    } else if b < -0x1p63 {
      sign = 1
    } else {
      let whole = Int64(b)
      sign = a < whole ? -1 : a > whole ? 1 : Double(whole) < b ? -1 : Double(whole) > b ? 1 : 0
    }
    return orders(sign, op, 0)
  }

  private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard part.count <= text.count else { return false }
    return (0...text.count - part.count).contains { text[$0..<$0 + part.count].elementsEqual(part) }
  }
}

extension Predicate.Comparison {
  /// The subtypes that satisfy the question, each by itself.
  package var matchingSubtypes: MediaSubtypes {
    let holds = holdsForOne()
    return MediaSubtypes(MediaSubtypes.each.filter { holds(.mediaSubtype($0)) })
  }
}

extension Predicate.Operator {
  /// The operator with the same meaning if the operands are exchanged.
  fileprivate var mirrored: Self {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .equal, .notEqual, .contains, .beginsWith, .endsWith, .like, .matches: self
    }
  }
}
