import ArgumentParser
import PhotoClient
import PhotoModel

struct WhyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Explains why a file is, or is not, in the library.",
    discussion: """
      The answer names the reason: a rule, an error, a limit, or work that is pending. It takes any path, also one \
      that does not exist, and the id of an asset. With -, the paths and ids come from standard input, one on each \
      line.

      A file that is neither a photo nor a video by its name, such as an XMP file, is "notMedia" in --json. The \
      extensions of photos and videos are \(MediaFormat.extensions.joined(separator: " ")).

      EXAMPLES
        photoctl why IMG_0001.jpg
        photoctl why 320
        photoctl why ~/Pictures/.hidden/a.jpg
        find ~/Pictures -name '*.jpg' -print0 | photoctl why -0 -
      """)

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "Print each answer as one JSON object: path, state, reason, assetID.")
  var json = false

  @OptionGroup var files: AssetArguments

  /// The answer for one path, as JSON.
  private struct Answer: Encodable {
    let path: String
    let state: String
    let reason: String
    let assetID: AssetID?
  }

  func run() async throws {
    let library = connection.library
    let names = try files.names()
    let folders = try await library.folders()
    var failure: Failure?
    for name in names {
      do {
        try await answer(name, library, folders, isNamed: names.count > 1)
      } catch let error where Self.concernsOne(error) {
        // The first failure is printed at the end, and decides the exit code.
        let other = Failure(error, in: "why")
        if failure != nil { Output.complain("photoctl: \(other.problem)\n") }
        failure = failure ?? other
      }
    }
    if let failure { throw failure }
  }

  /// Whether the error is about one of the names, so that the others can be answered.
  private static func concernsOne(_ error: any Error) -> Bool {
    switch error {
    case let failure as Failure: failure.status == .noInput
    case PhotoLibraryError.invalidParameter: true
    default: false
    }
  }

  private func answer(
    _ name: NamedAsset, _ library: PhotoLibrary, _ folders: LibraryFolders, isNamed: Bool
  ) async throws {
    let path: String
    var isNamed = isNamed
    switch name.argument {
    case .path(let typed): path = folders.text(typed)
    case .id(let id):
      guard let known = try await library.assets([id]).first?.listedPath else {
        throw Failure(noSuchAssets: [id], names: [id: name]) ?? PhotoLibraryError.noSuchAsset(ids: [id])
      }
      path = known
      isNamed = true
    }
    let explanation = try await library.explain(path: path)
    if json {
      let answer = Answer(
        path: path, state: explanation.state, reason: explanation.reason, assetID: explanation.assetID)
      try Output.put(try JSONText.indented(answer))
      return
    }
    var text = isNamed ? "\(Printable.text(path)): " : ""
    text += "\(explanation.state): \(Printable.text(explanation.reason))"
    if let id = explanation.assetID { text += " Asset \(id)." }
    try Output.put(text + "\n")
  }
}
