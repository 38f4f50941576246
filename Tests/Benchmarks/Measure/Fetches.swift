import PhotoCatalog
import PhotoModel
import TestTools

/// Measures the CPU time of pages of 100 complete photos, read as the daemon reads them for a call of Fetch. The daemon
/// additionally has to write them as JSON and send them over the socket.
func fetchFigures(rounds: Int, path: String) throws -> Figures {
  let catalog = try Catalog(path: path)
  // The daemon also keeps the totals until the next commit.
  var totals: [String: Int] = [:]
  var figures = Figures()
  var dice = SeededGenerator(seed: 13)
  let folderCount = try catalog.read { try $0.counts().assets } / CatalogMaker.filesPerFolder
  for round in -10..<rounds {
    // Half of the words are chosen by their frequency in texts, half at random. Most words are rare.
    let number =
      round % 2 == 0 ? CatalogMaker.wordNumber(&dice) : Int.random(in: 0..<CatalogMaker.wordCount, using: &dice)
    let word = CatalogMaker.word(number)
    let album = Int.random(in: 1...CatalogMaker.albums, using: &dice)
    let folder = Int.random(in: 1...max(1, folderCount), using: &dice)
    for (name, options) in [
      ("newest", FetchOptions(fetchLimit: 100)), ("first page", FetchOptions()),
      ("album", FetchOptions(collection: "album:Album \(album)")),
      ("large album", FetchOptions(collection: "album:Large")),
      ("folder", FetchOptions(collection: "Folder \(folder)")), ("favorites", FetchOptions(collection: "favorites")),
      ("text", FetchOptions(text: word, fetchLimit: 100)),
    ] {
      var one = Figures()
      let count = try one.time(name) {
        try catalog.read { reader in
          let plan = try reader.plan(options)
          var pages = try FetchPages(plan, from: 0, knownTotal: totals[plan.key], reader)
          totals[plan.key] = pages.total
          return try reader.assets(try pages.next(100, reader)).assets.count
        }
      }
      precondition(count > 0 || name == "text", "\(name): nothing is found")
      if round >= 0 { figures.add(name, one.values[0].milliseconds[0]) }
    }
  }
  try catalog.close()
  return figures
}
