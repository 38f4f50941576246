import ArgumentParser
import PhotoClient
import PhotoModel

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Prints your edits and albums as JSON lines, for another library.",
    discussion: """
      It prints all data that you gave your photos. These are favorites, hidden photos, ratings, titles, captions, \
      keywords, and dates and places that you typed. There are also albums with their order and cover, smart albums, \
      and folders of albums. It prints nothing that photod reads from the files, and no photos. `photoctl import` \
      reads it. Use > to write it to a file.

      Each line is a JSON object with a kind: one library, the photos, the collections, and one end. A photo is named by \
      its path, its size, and the hash of its content if photod has computed that. photod does so while it is idle, soon \
      after an edit; `photoctl status` shows how many files are left. Photos with a hash are found even if they were \
      moved or renamed.

      A backup (`photoctl backup`) has the same data and more, but only for this library on this machine.

      EXAMPLES
        photoctl export > photos.jsonl
        photoctl export | ssh other-machine photoctl import -
        photoctl export | jq -r 'select(.title) | .path + ": " + .title'
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "It always prints JSON, an object on each line.")
  var json = false

  func run() async throws {
    let export = try await LibraryExport(of: connection.library)
    try export.forEachLine { try Output.put($0) }
    Output.complain(
      "\(Text.count(export.photos.count, "photo", "photos")) and "
        + "\(Text.count(export.collections.count, "album", "albums")) were exported.\n")
  }
}
