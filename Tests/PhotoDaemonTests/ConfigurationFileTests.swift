import PhotoDaemon
import Testing

@Suite struct ConfigurationFileTests {
  @Test func everyKeyIsRead() throws {
    let file = try ConfigurationFile(
      parsing: """
        roots = ["~/Pictures", "/media/card"] # two
        removal-grace-seconds = 1.5
        log-level = "debug"
        catalog = "/x/c.sqlite"
        socket = "/x/s"
        ignore = ["Exports", "*.gif"]
        image-cache-size = "1 GiB"
        share-thumbnails = true
        [poll-interval-seconds]
        "/media/card" = 300
        "~/Pictures" = 2
        """, path: "c.toml")
    #expect(file.roots == ["~/Pictures", "/media/card"])
    #expect(file.removalGraceSeconds == 1.5)
    #expect(file.logLevel == .debug)
    #expect(file.catalog == "/x/c.sqlite")
    #expect(file.socket == "/x/s")
    #expect(file.ignore == ["Exports", "*.gif"])
    #expect(file.imageCacheSize == 1 << 30)
    #expect(file.sharesThumbnails == true)
    #expect(file.pollSeconds == ["/media/card": 300, "~/Pictures": 2])
  }

  @Test func emptyFileSetsNoKey() throws {
    #expect(try ConfigurationFile(parsing: "", path: "c.toml") == ConfigurationFile())
    #expect(try ConfigurationFile(parsing: "# only a comment\n\n", path: "c.toml") == ConfigurationFile())
  }

  @Test func anIntegerIsANumberOfSeconds() throws {
    #expect(try ConfigurationFile(parsing: "removal-grace-seconds = 0", path: "c").removalGraceSeconds == 0)
  }

  @Test(
    arguments: [
      (
        "# photos\n\nrots = [\"/a\"]", "c.toml:3: unknown key \"rots\"",
        "The keys are catalog, ignore, image-cache-size, log-level, poll-interval-seconds, removal-grace-seconds, roots, share-thumbnails, socket."
      ),
      (
        "root = [\"/a\"]", "c.toml:1: unknown key \"root\"",
        "Did you mean `roots`? The keys are catalog, ignore, image-cache-size, log-level, poll-interval-seconds, removal-grace-seconds, roots, share-thumbnails, socket."
      ),
      (
        "Removal_Grace = 5", "c.toml:1: unknown key \"Removal_Grace\"",
        "Did you mean `removal-grace-seconds`? The keys are catalog, ignore, image-cache-size, log-level, poll-interval-seconds, removal-grace-seconds, roots, share-thumbnails, socket."
      ),
      ("[roots2]\nx = 1", "c.toml:1: unknown key \"roots2\"", nil),
      (
        "roots = [\"/a]\nsocket = \"/s\"\n", "c.toml:1: a text has no closing quote",
        "Correct the line, or move the file away to start with the defaults."
      ),
      ("\nsocket = \"/s", "c.toml:2: a text has no closing quote", nil),
      ("roots = [\"/a\",\n", "c.toml:1: a list has no closing ]", nil),
      ("zebra = 1\nant = 2", "c.toml:1: unknown key \"zebra\"", nil),
      (
        "roots = \"~/Pictures\"", "c.toml:1: roots is a string, not a list of folders",
        "Write it as: roots = [\"~/Pictures\"]"
      ),
      (
        "\nroots = [\"/a\", 7]", "c.toml:2: roots contains an integer, and not only folders",
        "Write each of them as a string, as in: roots = [\"~/Pictures\"]"
      ),
      (
        "poll-interval-seconds = 60",
        "c.toml:1: poll-interval-seconds is an integer, not a table of roots and seconds",
        "Write it as: [poll-interval-seconds], and below it \"/mnt/nas/photos\" = 300"
      ),
      (
        "[poll-interval-seconds]\n\"/p\" = 1",
        "c.toml:2: the interval of /p is 1; it must be 2 to 86,400 seconds", nil
      ),
      (
        "[poll-interval-seconds]\n\"/p\" = 86401",
        "c.toml:2: the interval of /p is 86401; it must be 2 to 86,400 seconds", nil
      ),
      (
        "[poll-interval-seconds]\n'/p' = \"5\"",
        "c.toml:2: the interval of /p is a string, not a whole number of seconds", nil
      ),
      (
        "ignore = \"*.gif\"", "c.toml:1: ignore is a string, not a list of patterns",
        "Write it as: ignore = [\"Exports\", \"*.gif\"]"
      ),
      ("ignore = [7]", "c.toml:1: ignore contains an integer, and not only patterns", nil),
      (
        "roots = []", "c.toml:1: roots is an empty list, so there is nothing to watch",
        "Name a folder, as in: roots = [\"~/Pictures\"], or leave the key out to watch your pictures folder."
      ),
      (
        "removal-grace-seconds = \"10\"", "c.toml:1: removal-grace-seconds is a string, not a number of seconds",
        "Write it as: removal-grace-seconds = 600"
      ),
      (
        "removal-grace-seconds = true", "c.toml:1: removal-grace-seconds is a boolean, not a number of seconds", nil
      ),
      (
        "removal-grace-seconds = -1", "c.toml:1: removal-grace-seconds is -1; it must be 0 to 2,592,000",
        "Write seconds, as in: removal-grace-seconds = 600. With 0, photod removes missing photos at once."
      ),
      (
        "removal-grace-seconds = nan", "c.toml:1: removal-grace-seconds is nan; it must be 0 to 2,592,000", nil
      ),
      (
        "log-level = \"loud\"", "c.toml:1: log-level is \"loud\", which is no level",
        "The levels are trace, debug, info, notice, warning, error, critical."
      ),
      ("log-level = 3", "c.toml:1: log-level is an integer, not a string", "Write it as: log-level = \"info\""),
      ("catalog = [\"/a\"]", "c.toml:1: catalog is a list, not a string", nil),
      ("socket.path = \"/a\"", "c.toml:1: socket is a table, not a string", nil),
      (
        "image-cache-size = \"much\"", "c.toml:1: image-cache-size is \"much\", which is no size",
        "Write bytes, or a number with KiB, MiB, GiB or TiB, as in: image-cache-size = \"2 GiB\""
      ),
      ("image-cache-size = true", "c.toml:1: image-cache-size is a boolean, not a size", nil),
      ("image-cache-size = 5", "c.toml:1: image-cache-size is 5; it must be 16 MiB to 1 TiB", nil),
      ("image-cache-size = \"2 TiB\"", "c.toml:1: image-cache-size is 2 TiB; it must be 16 MiB to 1 TiB", nil),
      (
        "share-thumbnails = \"yes\"", "c.toml:1: share-thumbnails is a string, not true or false",
        "Write it as: share-thumbnails = true"
      ),
      ("share-thumbnails = 1", "c.toml:1: share-thumbnails is an integer, not true or false", nil),
      ("catalog = 2024-01-01", "c.toml:1: catalog is a date, not a string", nil),
    ] as [(String, String, String?)])
  func wrongValueIsNamed(text: String, problem: String, remedy: String?) {
    let error = #expect(throws: StartError.self) { try ConfigurationFile(parsing: text, path: "c.toml") }
    #expect(error?.problem == problem)
    #expect(error?.status == .configuration)
    if let remedy { #expect(error?.remedy == remedy) }
  }

  @Test(
    arguments: [
      ("\"2 GiB\"", 2 << 30), ("\"1.5GiB\"", 3 << 29), ("\"64 MiB\"", 64 << 20), ("\"20000000\"", 20_000_000),
      ("20000000", 20_000_000), ("\"1 TiB\"", 1 << 40),
    ] as [(String, Int64)])
  func theSizeOfTheCacheHasAUnit(text: String, byteCount: Int64) throws {
    #expect(
      try ConfigurationFile(parsing: "image-cache-size = \(text)", path: "c.toml").imageCacheSize == byteCount)
  }

  @Test(arguments: ["roots = [", "roots = [\"a\"]\nroots = [\"b\"]", "= 1", "a", "\u{FEFF}\u{1}"])
  func invalidTomlIsRefusedWithItsLine(text: String) {
    let error = #expect(throws: StartError.self) { try ConfigurationFile(parsing: text, path: "c.toml") }
    #expect(error?.problem.hasPrefix("c.toml:") == true)
    #expect(error?.status == .configuration)
  }

  @Test func fileWithANulByteIsRefused() {
    let error = #expect(throws: StartError.self) {
      try ConfigurationFile(parsing: "log-level = \"info\"\n\0rots = 1", path: "c.toml")
    }
    #expect(error?.problem == "c.toml: it contains a NUL byte, so it is not TOML")
  }

  @Test func theErrorIsThreeLines() {
    let error = StartError(.configuration, "c.toml:3: unknown key \"rots\"", remedy: "The keys are roots.")
    #expect(
      error.threeLines == """
        photod: c.toml:3: unknown key "rots"
          The keys are roots.
          See `photod --help` for options, files and exit codes.

        """)
  }
}
