import ArgumentParser
import PhotoContract

/// Refuses texts that are longer than a request may have. photod would only name the member of the request.
enum TextBound {
  /// - Parameters:
  ///   - subject: the option, or words such as `The title`.
  ///   - member: the name in ``/PhotoContract/RequestBounds``, such as `EditAsset.title`.
  /// - Throws: `ValidationError`.
  static func check(_ subject: String, _ text: String?, _ member: String) throws {
    guard let problem = problem(subject, text, member) else { return }
    throw ValidationError("\(problem).")
  }

  /// - Returns: a sentence without its full stop, with the length of the text and the limit; nil if the text is short
  ///   enough.
  static func problem(_ subject: String, _ text: String?, _ member: String) -> String? {
    let bound = (RequestBounds.library[member] ?? RequestBounds.manage[member])?.bytes
    guard let text, let bound, text.utf8.count > bound else { return nil }
    return "\(subject) is too long: it has \(Text.grouped(text.utf8.count)) bytes of UTF-8, and the limit is "
      + Text.grouped(bound)
  }

  /// Checks the title of a new album, or a new title.
  ///
  /// - Throws: `ValidationError`.
  static func check(title: String) throws {
    if title.allSatisfy(\.isWhitespace) {
      throw ValidationError("The title is '\(title)'; it must have a character that is not a space.")
    }
    try check("The title", title, "CreateAlbum.title")
  }
}
