import Glibc
import PhotoDaemon
import Testing

@Suite struct ConfigurationTests {
  @Test func defaultsAreThoseOfXDG() throws {
    let scratch = try Scratch()
    let configuration = try Configuration.load(options: Options(), environment: scratch.environment())
    #expect(configuration.roots == ["\(scratch.path)/Pictures"])
    #expect(configuration.catalog == "\(scratch.path)/.local/share/photod/catalog.sqlite")
    #expect(configuration.socket == "\(scratch.path)/run/photod/photod.sock")
    #expect(configuration.file == "\(scratch.path)/.config/photod/config.toml")
    #expect(configuration.removalGrace == .seconds(600))
    #expect(configuration.logLevel == .info)
  }

  @Test func variablesMoveTheFoldersAndRelativeOnesAreIgnored() throws {
    let scratch = try Scratch()
    let environment = scratch.environment([
      "XDG_DATA_HOME": "/data/", "XDG_CONFIG_HOME": "relative", "XDG_RUNTIME_DIR": "",
    ])
    let configuration = try Configuration.load(options: Options(), environment: environment)
    #expect(configuration.catalog == "/data/photod/catalog.sqlite")
    #expect(configuration.file == "\(scratch.path)/.config/photod/config.toml")
    #expect(configuration.socket == "/run/user/\(geteuid())/photod/photod.sock")
  }

  @Test func optionsComeBeforeTheFileAndTheFileBeforeDefaults() throws {
    let scratch = try Scratch()
    try scratch.directory(".config/photod")
    try scratch.directory("a")
    try scratch.file(
      ".config/photod/config.toml",
      "roots = [\"~/b\"]\nlog-level = \"error\"\nremoval-grace-seconds = 5\ncatalog = \"~/c.sqlite\"")
    let environment = scratch.environment()
    let read = try Configuration.load(options: Options(), environment: environment)
    #expect(read.roots == ["\(scratch.path)/b"])
    #expect(read.removalGrace == .seconds(5))
    #expect(read.catalog == "\(scratch.path)/c.sqlite")
    var options = Options()
    options.roots = ["./x/../a/."]
    options.logLevel = .trace
    options.removalGraceSeconds = 0
    let decided = try Configuration.load(options: options, environment: environment)
    #expect(decided.roots == ["\(scratch.path)/a"])
    #expect(decided.logLevel == .trace)
    #expect(decided.removalGrace == .zero)
    #expect(decided.catalog == "\(scratch.path)/c.sqlite")
  }

  @Test func aNamedFileMustExistAndTheDefaultOneNeedNot() throws {
    let scratch = try Scratch()
    var options = Options()
    options.configuration = "none.toml"
    let error = #expect(throws: StartError.self) {
      try Configuration.load(options: options, environment: scratch.environment())
    }
    #expect(error?.problem == "\(scratch.path)/none.toml: No such file or directory")
    #expect(error?.remedy == "Check the path, or leave --config out to use the usual file.")
    #expect(error?.status == .configuration)
  }

  @Test func relativePathsInTheFileAreRefused() throws {
    let scratch = try Scratch()
    let file = try scratch.file("c.toml", "roots = [\"Pictures\"]")
    var options = Options()
    options.configuration = file
    let error = #expect(throws: StartError.self) {
      try Configuration.load(options: options, environment: scratch.environment())
    }
    #expect(error?.problem == "\(file): roots: \"Pictures\" is not an absolute path")
  }

  @Test func fileThatIsNoTextIsRefused() throws {
    let scratch = try Scratch()
    var options = Options()
    options.configuration = try scratch.directory("folder")
    #expect(throws: StartError.self) { try Configuration.load(options: options, environment: scratch.environment()) }
    options.configuration = try scratch.file("large", String(repeating: "#", count: ConfigurationFile.maximumBytes + 1))
    let error = #expect(throws: StartError.self) {
      try Configuration.load(options: options, environment: scratch.environment())
    }
    #expect(error?.problem == "\(scratch.path)/large: it is larger than 1048576 bytes")
  }

  // MARK: - Roots

  @Test func linksAreResolvedAndTwinsAndInnerRootsAreFolded() throws {
    let scratch = try Scratch()
    try scratch.directory("a/inner")
    try scratch.directory("ab")
    symlink("\(scratch.path)/a", "\(scratch.path)/link")
    var options = Options()
    options.roots = ["a/inner", "link", "a", "ab"]
    let configuration = try Configuration.load(options: options, environment: scratch.environment())
    #expect(configuration.roots == ["\(scratch.path)/a", "\(scratch.path)/ab"])
    #expect(
      configuration.remarks == [
        "\(scratch.path)/a is given twice, or leads to the same folder as another root; it is used once",
        "\(scratch.path)/a/inner lies inside the root \(scratch.path)/a, which covers it unless a share is mounted there",
      ])
    #expect(configuration.innerRoots == ["\(scratch.path)/a/inner"])
  }

  /// The outer root ignores these folders. Without their own roots, the photos in them would not be indexed.
  @Test func rootInAnIgnoredFolderOfAnotherRootIsKept() throws {
    let scratch = try Scratch()
    for folder in ["a/.hidden/inner", "a/b/@eaDir", "a/ignored/c", "a/d.photoslibrary", "a/plain"] {
      try scratch.directory(folder)
    }
    var options = Options()
    options.ignore = ["ignored"]
    options.roots = ["a", "a/.hidden/inner", "a/b/@eaDir", "a/ignored/c", "a/d.photoslibrary", "a/plain"]
    let configuration = try Configuration.load(options: options, environment: scratch.environment())
    #expect(
      configuration.roots
        == ["a", "a/.hidden/inner", "a/b/@eaDir", "a/ignored/c", "a/d.photoslibrary"].map { "\(scratch.path)/\($0)" })
    #expect(
      configuration.remarks == [
        "\(scratch.path)/a/plain lies inside the root \(scratch.path)/a, which covers it unless a share is mounted there"
      ])
  }

  @Test func aMissingRootIsKeptWithAWarning() throws {
    let scratch = try Scratch()
    var options = Options()
    options.roots = ["/nowhere/photos"]
    let configuration = try Configuration.load(options: options, environment: scratch.environment())
    #expect(configuration.roots == ["/nowhere/photos"])
    #expect(
      configuration.remarks == [
        "/nowhere/photos can't be found (No such file or directory); photod watches it as soon as it exists"
      ])
  }

  /// No system call takes it, and an order to photod-watch could not hold a much longer one.
  @Test func aRootIsNotTooLong() throws {
    var options = Options()
    options.roots = [String(repeating: "/d", count: 2048)]
    let error = #expect(throws: StartError.self) {
      try Configuration.load(options: options, environment: try Scratch().environment())
    }
    #expect(error?.problem == "a root has 4096 bytes, more than 4095")
  }

  @Test func aRootThatIsAFileIsRefused() throws {
    let scratch = try Scratch()
    let file = try scratch.file("photo.jpg")
    var options = Options()
    options.roots = [file]
    let error = #expect(throws: StartError.self) {
      try Configuration.load(options: options, environment: scratch.environment())
    }
    #expect(error?.problem == "the root \(file) is not a folder")
  }

  @Test func aRootThatIsNotUTF8KeepsItsBytes() throws {
    let scratch = try Scratch()
    let name = Array(scratch.path.utf8CString.dropLast()) + [0x2F, CChar(bitPattern: 0xFF), 0]
    #expect(mkdir(name, 0o755) == 0)
    var options = Options()
    options.roots = ["file://\(scratch.path)/%FF"]
    let configuration = try Configuration.load(options: options, environment: scratch.environment())
    #expect(configuration.roots == ["file://\(scratch.path)/%FF"])
    #expect(configuration.remarks.isEmpty)
  }

  // MARK: - The pictures folder

  @Test func thePicturesFolderIsTheOneOfTheUser() throws {
    let scratch = try Scratch()
    try scratch.directory(".config")
    try scratch.file(".config/user-dirs.dirs", "XDG_PICTURES_DIR=\"$HOME/Bilder\"\n")
    let configuration = try Configuration.load(options: Options(), environment: scratch.environment())
    #expect(configuration.roots == ["\(scratch.path)/Bilder"])
  }

  @Test(
    arguments: [
      ("XDG_PICTURES_DIR=\"$HOME/Bilder\"", "/h/Bilder"),
      ("XDG_PICTURES_DIR=\"/mnt/photos/\"", "/mnt/photos"),
      ("  XDG_PICTURES_DIR = \"$HOME/My \\\"Best\\\" \\$5\"", "/h/My \"Best\" $5"),
      ("XDG_PICTURES_DIR=\"/a\"\nXDG_PICTURES_DIR=\"/b\"", "/b"),
      ("XDG_MUSIC_DIR=\"$HOME/Music\"\n#XDG_PICTURES_DIR=\"/x\"", nil),
      ("XDG_PICTURES_DIR=\"$HOME\"", nil), ("XDG_PICTURES_DIR=\"$HOME/\"", nil), ("XDG_PICTURES_DIR=\"$OTHER/x\"", nil),
      ("XDG_PICTURES_DIR=$HOME/x", nil), ("XDG_PICTURES_DIR=\"/unclosed", nil), ("XDG_PICTURES_DIRX=\"/x\"", nil),
    ] as [(String, String?)])
  func userDirectoriesAreReadAsTheirManualSays(text: String, pictures: String?) {
    #expect(UserDirectories.pictures(in: text, home: "/h") == pictures)
  }

  @Test func pollIntervalsAreThoseOfRoots() throws {
    let scratch = try Scratch()
    try scratch.directory("a")
    #expect(symlink("\(scratch.path)/a", "\(scratch.path)/link") == 0)
    var options = Options()
    options.configuration = try scratch.file(
      "c.toml", "roots = [\"~/link\", \"~/away\"]\n[poll-interval-seconds]\n\"~/link/\" = 60\n\"~/away\" = 86400")
    let read = try Configuration.load(options: options, environment: scratch.environment())
    #expect(read.pollSeconds == ["\(scratch.path)/a": 60, "\(scratch.path)/away": 86_400])
    #expect(read.remarks.count == 1, "\(read.remarks)")
    let text = try EffectiveConfiguration(options: options, environment: scratch.environment()).text
    #expect(
      text.hasSuffix(
        "\n[poll-interval-seconds]  # file\n\"\(scratch.path)/a\" = 60\n\"\(scratch.path)/away\" = 86400\n"))
    var again = Options()
    again.configuration = try scratch.file("again.toml", text)
    #expect(try Configuration.load(options: again, environment: scratch.environment()).pollSeconds == read.pollSeconds)

    // With roots as options, the file's folders may be no roots.
    options.roots = ["a"]
    #expect(
      try Configuration.load(options: options, environment: scratch.environment()).pollSeconds
        == ["\(scratch.path)/a": 60])
    options.roots = []
    options.configuration = try scratch.file(
      "d.toml", "roots = [\"~/a\"]\n[poll-interval-seconds]\n\"~/b\" = 60")
    let error = #expect(throws: StartError.self) {
      try Configuration.load(options: options, environment: scratch.environment())
    }
    #expect(
      error?.description.contains("poll-interval-seconds: ~/b is no root") == true, "\(String(describing: error))")
    #expect(error?.description.contains("The roots are \(scratch.path)/a.") == true)
  }
}
