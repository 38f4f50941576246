import ArgumentParser
import PhotoClient
import PhotoContract

struct ThumbnailCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbnail",
    abstract: "Makes small pictures of assets.",
    discussion: """
      It prints the path of each picture, in the order of the arguments. The pictures are upright, in sRGB, and have no \
      metadata. They belong to photod, which may remove them after 60 seconds: read them at once, or copy them.

      With --output, they are copied into a folder, which is made if it does not exist. A picture gets the name ID.jpg, \
      or ID.png if it has transparency. If there is such a file, the command fails for this asset and keeps the file, \
      unless --overwrite is given. A copy appears whole, and replaces the old file at once.

      If there is no picture of an asset, its error is printed at the end, and the others are made nevertheless. OpenEXR \
      files and some AVIF sequences have none, and videos only if photod-videos is installed. With \
      --format json, each result is an object with `id`, `path`, `width`, `height`, `byteCount`, `contentType`, \
      `isDegraded` and `revision`, or with `id`, `failure` and `message`. isDegraded is true if the drive is offline, \
      and photod keeps only a smaller picture.

      EXAMPLES
        photoctl thumbnail 42
        photoctl thumbnail IMG_0001.jpg --size 1024 --output /tmp/pictures
        photoctl thumbnail MVI_0001.mp4 --at 2.5
        photoctl query --keyword sea --format paths | photoctl thumbnail -
      """)

  @OptionGroup var connection: ConnectionOptions

  @Option(
    help: ArgumentHelp(
      "The longer side in pixels, 1 to 16384 (default: 256). A smaller photo keeps its size.", valueName: "pixels"),
    transform: { try NumberArgument.whole($0, "a number of pixels from 1 to 16384") })
  var size: Int?

  @Option(
    help: ArgumentHelp(
      "The time of a video's frame (default: the first frame that is not black). After the end of the video, it is the last frame. For photos, it has no effect.",
      valueName: "seconds"),
    transform: { try NumberArgument.real($0, "a number of seconds, such as 2.5") })
  var at: Double?

  @Option(
    help: ArgumentHelp("Copy the pictures into this folder, with the names ID.jpg.", valueName: "dir"),
    completion: .directory)
  var output: String?

  @Flag(help: "Replace files in the folder of --output.")
  var overwrite = false

  @OptionGroup var formats: FormatOptions<ThumbnailFormat>

  @OptionGroup var assets: AssetArguments

  func validate() throws {
    if let size, !(1...16_384).contains(size) {
      throw ValidationError("--size is \(size); it must be 1 to 16384 pixels.")
    }
    if let at, !(at >= 0 && at.isFinite) {
      throw ValidationError("--at is \(at); it must be the seconds since the start of the video.")
    }
    if let output, PictureFolder.isNamedAsPicture(output) {
      throw ValidationError(
        "--output is '\(output)'; it must be a folder, in which each picture gets the name ID.jpg. For a folder with this name, write '\(output)/'."
      )
    }
    if overwrite, output == nil { throw ValidationError("--overwrite needs --output.") }
  }

  func run() async throws {
    let library = connection.library
    let (ids, names) = try await library.ids(of: try assets.names())
    let folder = try output.map { try PictureFolder($0, overwrites: overwrite) }
    var printer = ThumbnailPrinter(format: formats.chosen ?? .paths)
    var failures: [Failure] = []
    for start in stride(from: 0, to: ids.count, by: RequestLimits.maximumMadeImages) {
      let part = Array(ids[start..<min(start + RequestLimits.maximumMadeImages, ids.count)])
      let results = try await images(of: part, library)
      // Only the failures name the files.
      let failedIDs = results.compactMap { if case .failure = $1 { $0 } else { nil } }
      let failed = failedIDs.isEmpty ? [] : try await library.assets(failedIDs)
      let subjects = Dictionary(failed.map { ($0.id, $0.subject) }, uniquingKeysWith: { first, _ in first })
      for (id, result) in results {
        let thumbnail: Thumbnail
        do {
          thumbnail = try Thumbnail(id, try result.get(), folder)
        } catch {
          var problem = Failure(error, in: "thumbnail")
          problem.problem = (names[id] ?? NamedAsset(.id(id))).problem(
            Self.problem(problem.problem, of: subjects[id] ?? "asset \(id)", error))
          failures.append(problem)
          thumbnail = Thumbnail(id, failing: error, problem.problem)
        }
        try printer.put(thumbnail)
      }
    }
    try printer.end()
    guard let last = failures.last else { return }
    // The other formats print each failure in its place.
    if (formats.chosen ?? .paths) == .paths {
      for failure in failures.dropLast() { Output.complain("photoctl: \(failure.problem)\n") }
    }
    throw last
  }

  /// The problem with the asset that has it, if its text does not name the asset.
  private static func problem(_ text: String, of subject: String, _ error: any Error) -> String {
    if case .noImage(.noSuchAsset, _) = error as? PhotoLibraryError { text } else { "\(subject): \(text)" }
  }

  /// The results in the order of the ids.
  private func images(
    of ids: [AssetID], _ library: PhotoLibrary
  ) async throws -> [(AssetID, Result<AssetImage, PhotoLibraryError>)] {
    let side = size ?? 256
    var results: [Result<AssetImage, PhotoLibraryError>?] = Array(repeating: nil, count: ids.count)
    let options = ImageRequestOptions(deliveryMode: .highQuality, resizeMode: .exact, atSeconds: at)
    let replies = ImageManager.makeImages(
      ids, of: library, targetSize: ImageSize(width: side, height: side), options: options)
    for try await reply in replies {
      for (index, result) in reply where results.indices.contains(index) { results[index] = result }
    }
    return zip(ids, results).map { ($0, $1 ?? .failure(.malformedReply("there is no result for the asset \($0)"))) }
  }
}

enum ThumbnailFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case paths, json, jsonl
}

extension ThumbnailFormat: PrintedFormat {
  static var help: ArgumentHelp { "The output format (default: paths)." }
}
