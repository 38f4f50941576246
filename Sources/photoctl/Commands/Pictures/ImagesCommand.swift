import ArgumentParser
import PhotoClient

struct ImagesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "images",
    abstract: "Shows what photod does with pictures, and manages those that it keeps.",
    discussion: """
      Without a flag, it prints the statistics of org.photod.images. They begin at the start of photod. `undelivered` counts \
      pictures that were made and not sent, because their requests were cancelled.

      --clear removes the kept pictures. They are made again when a program requests them. Pictures that a program got in \
      the last minute stay until that minute is over, and are not counted.

      --warm makes a picture with 256 pixels of each asset that has none, and ends when all are made. It prints how \
      many could not be made: `photoctl thumbnail ID` has the reason. photod makes them while no program requests \
      pictures. It reports the progress on standard error, at most every ten seconds. It waits while the machine runs \
      on its battery, or while its processors are busy. They are busy if tasks waited for one in more than 20 % of the \
      last ten seconds (/proc/pressure/cpu). With --now, it does not wait. If the cache has no room for more pictures, \
      it fails (`image-cache-size`).

      EXAMPLES
        photoctl images
        photoctl images --format json | jq .bytes
        photoctl images --clear
        photoctl images --warm --now
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Remove the kept pictures.")
  var clear = false

  @Flag(help: "Make the pictures of all assets while the machine is idle.")
  var warm = false

  @Flag(help: "With --warm: do not wait until the machine is idle.")
  var now = false

  @OptionGroup var formats: FormatOptions<ImagesFormat>

  func validate() throws {
    if clear, warm { throw ValidationError("--clear and --warm are two commands. Give only one of them.") }
    if now, !warm { throw ValidationError("--now needs --warm.") }
  }

  func run() async throws {
    let library = connection.library
    if clear {
      let byteCount = try await PhotoDaemonManagement(of: library).clearImages()
      return try put(["freed": Int(byteCount)]) { "\(byteText(byteCount)) freed\n" }
    }
    let images = ImageManager(of: library)
    if warm {
      let (count, failed) = try await ImageWarming(library: library, images: images, isImmediate: now).run()
      return try put(["assets": count, "failed": failed]) {
        guard count > 0 else { return "nothing to do: the library has no assets\n" }
        return """
          \(Text.count(count, "asset", "assets")): each has its picture now, except those on drives that are offline.
          \(failed > 0 ? Text.count(failed, "picture", "pictures") + " could not be made.\n" : "")
          """
      }
    }
    let statistics = try await images.statistics()
    try put(statistics) { ImagesText.text(statistics) }
  }

  private func put<Value: Encodable>(_ value: Value, _ text: () -> String) throws {
    switch formats.chosen ?? (Output.isTerminal ? .text : .json) {
    case .text: try Output.put(text())
    case .json: try Output.put(JSONText.indented(value))
    }
  }
}

enum ImagesFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json
}

extension ImagesFormat: PrintedFormat {
  static var help: ArgumentHelp { "The output format (default: text on a terminal, else json)." }
}
