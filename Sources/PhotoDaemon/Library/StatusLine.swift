import PhotoModel

/// One line for `systemctl status`: `live: 204 photos, 1 folder`, and the first warning if there is one.
func statusLine(_ status: LibraryStatus) -> String {
  func count(_ number: Int, _ word: String) -> String { counted(number, word, word + "s") }
  var line = "\(status.state): \(count(status.assetCount, "photo")), \(count(status.roots.count, "folder"))"
  if let progress = status.progress { line += ", \(count(progress.done, "file")) seen" }
  if status.failedCount > 0 { line += ", \(grouped(status.failedCount)) with unreadable content" }
  if let first = status.warnings.first { line += "; \(count(status.warnings.count, "warning")): \(first)" }
  return line
}
