import PhotoModel
import PredicateLanguage

extension FetchOptions {
  /// A short form for a person: `smart:favorites; isHidden == false; limit 100`; nil for the default list.
  var summary: String? {
    var parts: [String] = []
    if let collection { parts.append(collection) }
    if let mediaTypes { parts.append(mediaTypes.joined(separator: ", ")) }
    if let predicate {
      do {
        parts.append(try Predicate(parsing: predicate).description)
      } catch {
        parts.append(predicate)
      }
    }
    if let text { parts.append("text " + text) }
    if let sortDescriptors, !sortDescriptors.isEmpty {
      parts.append("by " + sortDescriptors.map { $0.key + ($0.ascending ? "" : " descending") }.joined(separator: ", "))
    }
    if let fetchLimit { parts.append("limit \(fetchLimit)") }
    if includeHidden == true { parts.append("with hidden") }
    if includeTrashed == true { parts.append("with trashed") }
    if excludeUnavailable == true { parts.append("without unavailable") }
    guard !parts.isEmpty else { return nil }
    let text = parts.joined(separator: "; ")
    // A predicate may contain thousands of ids.
    return text.unicodeScalars.count <= 500 ? text : String(text.prefix(500)) + "…"
  }
}
