import ArgumentParser

struct AlbumsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "albums",
    abstract: "Lists albums, and changes your own.",
    discussion: """
      Your albums keep the order in which you add photos, and may be in folders of albums. An album holds no files: the \
      photo files are not changed, and deleting an album deletes no photo.

      An album is named by its title, by album:Title, or by id:42. `photoctl albums list` has the ids.

      EXAMPLES
        photoctl albums
        photoctl albums create "Summer in Rome" --where "creationDate == '2024-07'"
        photoctl query --rating 5 | photoctl albums add Best -
        photoctl albums smart "Best of 2024" --taken 2024 --rating 4
        photoctl albums mkdir Trips
        photoctl albums move "Summer in Rome" --to Trips
        photoctl albums remove Best IMG_0001.jpg
        photoctl albums cover Best IMG_0002.jpg
        photoctl albums delete --dry-run Best
      """,
    subcommands: [
      AlbumsListCommand.self, AlbumsShowCommand.self, AlbumsCreateCommand.self, AlbumsSmartCommand.self,
      AlbumsMkdirCommand.self, AlbumsRenameCommand.self, AlbumsMoveCommand.self, AlbumsAddCommand.self,
      AlbumsRemoveCommand.self, AlbumsCoverCommand.self, AlbumsDeleteCommand.self,
    ], defaultSubcommand: AlbumsListCommand.self)
}

/// The name of an album or a folder of albums on the command line.
struct AlbumName: ExpressibleByArgument, Hashable {
  let text: String

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    text = argument
  }

  /// The prefixes that say how an album is named, and a noun and an example for the text that follows.
  private static let forms = [
    ("folder:", "the path of a folder", "folder:/home/anna/Pictures"), ("album:", "a title", "album:Rome"),
    ("smart:", "the name of a smart album", "smart:favorites"), ("id:", "a number", "id:42"),
  ]

  /// Throws if the name of an album is only a prefix. The whole name would be another album, or none.
  ///
  /// - Parameter subject: the option or argument with this name, such as `--album`.
  /// - Throws: `ValidationError`.
  static func check(_ name: String?, _ subject: String) throws {
    guard let form = forms.first(where: { $0.0 == name }) else { return }
    throw ValidationError("\(subject) is '\(form.0)'; \(form.1) is missing after the colon, as in \(form.2).")
  }
}
