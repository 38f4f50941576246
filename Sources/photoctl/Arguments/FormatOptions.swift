import ArgumentParser

/// `--json`, for a command that prints one object.
struct JSONOption: ParsableArguments {
  @Flag(name: .customLong("json"), help: "Print one JSON object.")
  var isOn = false
}

/// The format of a command that has several: `--format`, or `--json` for short.
struct FormatOptions<Format: PrintedFormat>: ParsableArguments {
  @Option(help: Format.help)
  var format: Format?

  @Flag(help: "The same as --format \(Format.json.rawValue).")
  var json = false

  /// nil if the command line has none.
  var chosen: Format? { json ? Format.json : format }

  func validate() throws {
    guard json, let format, format != Format.json else { return }
    throw ValidationError("--json is --format \(Format.json.rawValue). Give only one format.")
  }
}

protocol PrintedFormat: ExpressibleByArgument, RawRepresentable<String>, CaseIterable, Equatable, Sendable {
  /// The format that `--json` names.
  static var json: Self { get }
  static var help: ArgumentHelp { get }
}

extension OutputFormat: PrintedFormat {
  static var help: ArgumentHelp { "The output format." }
}
