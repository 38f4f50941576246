import PhotoModel

extension FetchOptions {
  /// A short form for a person: `smart:favorites; isHidden == false; limit 100`; nil for the default list.
  ///
  /// - Parameter canonical: the predicate's canonical text from the list's plan. To parse the predicate again would take
  ///   a thread that answers calls for long.
  func summary(predicate canonical: String?) -> String? {
    var parts: [String] = []
    if let collection { parts.append(collection) }
    if let mediaTypes { parts.append(mediaTypes.joined(separator: ", ")) }
    if let canonical { parts.append(canonical) }
    if let text { parts.append("text " + text) }
    if let sortDescriptors, !sortDescriptors.isEmpty {
      parts.append("by " + sortDescriptors.map { $0.key + ($0.ascending ? "" : " descending") }.joined(separator: ", "))
    }
    if let fetchLimit { parts.append("limit \(fetchLimit)") }
    if includeHidden == true { parts.append("with hidden") }
    if includeTrashed == true { parts.append("with trashed") }
    if excludeUnavailable == true { parts.append("without unavailable") }
    guard !parts.isEmpty else { return nil }
    // A predicate may contain thousands of ids.
    return parts.joined(separator: "; ").shortened
  }
}

extension String {
  /// At most 500 Unicode scalars. A client may choose the text, and a single Character may have any number of scalars.
  var shortened: String {
    guard let end = unicodeScalars.index(startIndex, offsetBy: 500, limitedBy: endIndex), end < endIndex else {
      return self
    }
    return String(unicodeScalars[..<end]) + "…"
  }
}
