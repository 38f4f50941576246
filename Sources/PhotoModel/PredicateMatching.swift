extension Predicate {
  /// Whether the predicate holds for an asset: the meaning that a query compiled from it must have.
  package func matches(_ asset: Asset) -> Bool {
    switch self {
    case .comparison(let key, .equal, .null): asset.value(of: key) == .null
    case .comparison(let key, .notEqual, .null): asset.value(of: key) != .null
    case .comparison(let key, let op, let value): asset.value(of: key).compares(op, value)
    case .in(let key, let values): values.contains { asset.value(of: key).compares(.equal, $0) }
    case .and(let parts): parts.allSatisfy { $0.matches(asset) }
    case .or(let parts): parts.contains { $0.matches(asset) }
    case .not(let inner): !inner.matches(asset)
    }
  }
}

extension Asset {
  /// `.null` where it is absent.
  package func value(of key: PredicateKey) -> Predicate.Literal {
    func string(_ value: String?) -> Predicate.Literal { value.map { .string($0) } ?? .null }
    func integer(_ value: Int?) -> Predicate.Literal { value.map { .integer(Int64($0)) } ?? .null }
    func real(_ value: Double?) -> Predicate.Literal { value.map { .real($0) } ?? .null }
    func boolean(_ value: Bool?) -> Predicate.Literal { value.map { .boolean($0) } ?? .null }
    let resource = resources.first
    return switch key {
    case .id: .integer(id)
    case .mediaType: .mediaType(mediaType)
    case .creationDate: creationDate.map { .date($0) } ?? .null
    case .modificationDate: .date(modificationDate)
    case .addedDate: .date(addedDate)
    case .pixelWidth: integer(pixelWidth)
    case .pixelHeight: integer(pixelHeight)
    case .orientation: integer(orientation)
    case .durationSeconds: real(durationSeconds)
    case .title: string(title)
    case .caption: string(caption)
    case .rating: integer(rating)
    case .isFavorite: .boolean(isFavorite)
    case .isHidden: .boolean(isHidden)
    case .isTrashed: .boolean(isTrashed)
    case .burstIdentifier: string(burstIdentifier)
    case .available: .boolean(available)
    case .cameraMake: string(camera?.make)
    case .cameraModel: string(camera?.model)
    case .cameraLens: string(camera?.lens)
    case .cameraExposureSeconds: real(camera?.exposureSeconds)
    case .cameraFNumber: real(camera?.fNumber)
    case .cameraISO: integer(camera?.iso)
    case .cameraFocalLengthMillimeters: real(camera?.focalLengthMillimeters)
    case .cameraFlashFired: boolean(camera?.flashFired)
    case .locationLatitude: real(location?.latitude)
    case .locationLongitude: real(location?.longitude)
    case .locationAltitude: real(location?.altitude)
    case .filename: string(resource?.filename)
    case .path: string(resource?.path)
    case .byteCount: resource.map { .integer($0.byteCount) } ?? .null
    case .contentType: string(resource?.contentType)
    }
  }
}

extension Predicate.Literal {
  /// False with `.null` on either side, and between types that have no common order.
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
      }
    case (.integer(let a), .integer(let b)): Self.orders(a, op, b)
    case (.real(let a), .real(let b)): Self.orders(a, op, b)
    case (.real(let a), _) where a.isNaN: false
    // As SQLite compares them: exactly.
    case (.integer(let a), .real(let b)): Self.ordersExactly(a, op, b)
    case (.real(let a), .integer(let b)): Self.ordersExactly(b, op.mirrored, a)
    case (.date(let a), .date(let b)): Self.orders(a.microseconds, op, b.microseconds)
    case (.boolean(let a), .boolean(let b)): op == .equal ? a == b : op == .notEqual && a != b
    case (.mediaType(let a), .mediaType(let b)): op == .equal ? a == b : op == .notEqual && a != b
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
    case .contains, .beginsWith: false
    }
  }

  /// Without rounding the integer to a `Double`.
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

extension Predicate.Operator {
  /// For the operands exchanged.
  fileprivate var mirrored: Self {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .equal, .notEqual, .contains, .beginsWith: self
    }
  }
}
