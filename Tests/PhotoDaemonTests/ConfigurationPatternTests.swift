import PhotoDaemon
import Testing

@Suite struct ConfigurationPatternTests {
  @Test func patternsOfOptionsReplaceThoseOfTheFile() throws {
    let scratch = try Scratch()
    var options = Options()
    options.configuration = try scratch.file("c.toml", "ignore = [\"Exports\", \"~/Pictures/[old]/*.tif\"]")
    let read = try Configuration.load(options: options, environment: scratch.environment())
    #expect(read.ignore == ["Exports", "\(scratch.path)/Pictures/[old]/*.tif"])
    options.ignore = ["*.gif"]
    #expect(try Configuration.load(options: options, environment: scratch.environment()).ignore == ["*.gif"])
  }

  @Test func aHomeWithPatternCharactersIsTakenLiterally() throws {
    let scratch = try Scratch()
    var options = Options()
    options.ignore = ["~/x"]
    let environment = scratch.environment(["HOME": "/home/[me]*"])
    #expect(try Configuration.load(options: options, environment: environment).ignore == ["/home/\\[me]\\*/x"])
  }

  @Test(arguments: [
    ("a//b", "there is nothing between two slashes"),
    ("!a", "a pattern can't begin with !; for a name that begins with !, write \\!"),
    ("[a", "a [ has no ]"), ("", "it is empty"), ("*", "it would ignore everything"),
  ])
  func invalidPatternIsNamed(pattern: String, problem: String) throws {
    let scratch = try Scratch()
    let file = try scratch.file("c.toml", "ignore = [\"Good\", \"\(pattern)\"]")
    var options = Options()
    options.configuration = file
    var error = #expect(throws: StartError.self) {
      try Configuration.load(options: options, environment: scratch.environment())
    }
    #expect(error?.status == .configuration)
    #expect(error?.problem == "\(file): ignore: \"\(pattern)\" is no pattern: \(problem)")
    options = Options()
    options.ignore = [pattern]
    error = #expect(throws: StartError.self) {
      try Configuration.load(options: options, environment: scratch.environment())
    }
    #expect(error?.problem == "--ignore: \"\(pattern)\" is no pattern: \(problem)")
  }

  @Test func thereAreNotTooManyPatterns() throws {
    let scratch = try Scratch()
    var options = Options()
    options.ignore = (0...1000).map { "\($0)" }
    let error = #expect(throws: StartError.self) {
      try Configuration.load(options: options, environment: scratch.environment())
    }
    #expect(error?.problem == "--ignore: there are 1001 patterns, more than 1000")
  }
}
