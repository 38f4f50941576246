import Glibc
import Logging
import Synchronization
import Testing

@testable import PhotoDaemon

/// The output of `photod --check-config`.
@Suite(.timeLimit(.minutes(10))) struct EffectiveConfigurationTests {
  @Test func defaultsAreNamedAndNothingIsMade() throws {
    let scratch = try Scratch()
    try scratch.directory("Pictures")
    let text = try EffectiveConfiguration(options: Options(), environment: scratch.environment()).text
    #expect(
      text == """
        # configuration file: \(scratch.path)/.config/photod/config.toml (does not exist)
        roots = ["\(scratch.path)/Pictures"]  # default
        ignore = []  # default
        removal-grace-seconds = 600  # default
        log-level = "info"  # default
        catalog = "\(scratch.path)/.local/share/photod/catalog.sqlite"  # default
        socket = "\(scratch.path)/run/photod/photod.sock"  # default
        image-cache-size = "2 GiB"  # default, in \(scratch.path)/.cache/photod/pictures
        share-thumbnails = false  # default, in \(scratch.path)/.cache/thumbnails

        """)
    for folder in [".local", "run", ".config"] { #expect(access("\(scratch.path)/\(folder)", F_OK) != 0) }
  }

  @Test func eachValueHasItsSource() throws {
    let scratch = try Scratch()
    try scratch.directory("a/inner")
    let file = try scratch.file(
      "c.toml",
      "roots = [\"~/a\", \"~/a/inner\", \"~/away\"]\nlog-level = \"error\"\nremoval-grace-seconds = 1.5\nimage-cache-size = \"1.5 GiB\"\nshare-thumbnails = true"
    )
    var options = Options()
    options.configuration = file
    options.ignore = ["~/a/\"x\"\\\\", "*.gif"]
    options.socket = "s\u{1}"
    let text = try EffectiveConfiguration(options: options, environment: scratch.environment()).text
    let lines = text.split(separator: "\n")
    #expect(lines.first == "# configuration file: \(file)")
    #expect(lines.count { $0.hasPrefix("# warning: ") } == 2, "one folder is in another, and one is away")
    #expect(text.contains("\nroots = [  # file\n  \"\(scratch.path)/a\",\n"))
    #expect(
      text.contains("\nignore = [  # option --ignore\n  \"\(scratch.path)/a/\\\"x\\\"\\\\\\\\\",\n  \"*.gif\",\n]\n"))
    #expect(text.contains("\nremoval-grace-seconds = 1.5  # file\n"))
    #expect(text.contains("\nimage-cache-size = \"1536 MiB\"  # file, in "))
    #expect(text.contains("\nshare-thumbnails = true  # file, in "))
    #expect(text.contains("\nsocket = \"\(scratch.path)/s\\u0001\"  # option --socket\n"))

    // The output is a configuration file that means the same.
    var again = Options()
    again.configuration = try scratch.file("again.toml", text)
    var expected = try Configuration.load(options: options, environment: scratch.environment())
    expected.file = again.configuration
    expected.remarks = []
    var read = try Configuration.load(options: again, environment: scratch.environment())
    #expect(read.remarks.count == 2)
    read.remarks = []
    #expect(read == expected)
  }

  @Test func rootsAreShownWithoutLinks() throws {
    let scratch = try Scratch()
    try scratch.directory("a")
    #expect(symlink("\(scratch.path)/a", "\(scratch.path)/link") == 0)
    var options = Options()
    options.roots = ["link"]
    let text = try EffectiveConfiguration(options: options, environment: scratch.environment()).text
    #expect(text.contains("\nroots = [\"\(scratch.path)/a\"]  # option --root\n"))
  }

  @Test func theCheckReportsTheErrorOfAStart() throws {
    let scratch = try Scratch()
    var options = Options()
    options.configuration = try scratch.file("c.toml", "root = 1")
    let error = #expect(throws: StartError.self) {
      try EffectiveConfiguration(options: options, environment: scratch.environment())
    }
    #expect(error?.status == .configuration)
    options.configuration = nil
    options.socket = "/" + String(repeating: "s", count: 200)
    let long = #expect(throws: StartError.self) {
      try EffectiveConfiguration(options: options, environment: scratch.environment())
    }
    #expect(long?.status == .usage)
  }

  enum Place: CaseIterable {
    case catalogIsAFolder, catalogBelowAFile, catalogBelowALinkToNothing, socketIsAFile, socketBelowAFile
  }

  /// The check ends with the exit code of a start, and with the same message.
  @Test(arguments: Place.allCases) func theCheckFindsPlacesAtWhichAStartFails(_ place: Place) async throws {
    let scratch = try Scratch()
    try scratch.directory("folder")
    let file = try scratch.file("file", "text")
    var options = Options()
    options.roots = ["\(scratch.path)/folder"]
    switch place {
    case .catalogIsAFolder: options.catalog = "\(scratch.path)/folder"
    case .catalogBelowAFile: options.catalog = "\(file)/catalog.sqlite"
    case .catalogBelowALinkToNothing:
      try #require(symlink("\(scratch.path)/missing", "\(scratch.path)/link") == 0)
      options.catalog = "\(scratch.path)/link/catalog.sqlite"
    case .socketIsAFile: options.socket = file
    case .socketBelowAFile: options.socket = "\(file)/photod.sock"
    }
    let found = #expect(throws: StartError.self) {
      try EffectiveConfiguration(options: options, environment: scratch.environment())
    }
    let reported = Mutex("")
    let status = await Daemon.run(
      options: options, environment: scratch.environment(), parts: .library, hangups: AsyncStream { _ in },
      stopSignals: [], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      report: { text in reported.withLock { $0 += text } }, cutOff: {}, program: nil)
    #expect(found?.status == status)
    #expect(found?.status == (place == .catalogIsAFolder ? .inputOutput : .cannotCreate))
    #expect(found?.threeLines == reported.withLock { $0 })
  }
}
