import WorkerProcess

/// A program that decodes files. photod starts it as processes without rights.
package struct PictureProgram: Sendable {
  /// The name of the executable, for messages.
  package var name: String
  /// The package that installs it.
  package var package: String
  /// The pictures that need it, for messages.
  package var product: String
  /// Finds the executable. It throws if the program is not installed. A program that is installed later is found without
  /// a restart of photod.
  package var executable: @Sendable () throws -> String

  package init(
    name: String, package: String, product: String, executable: @escaping @Sendable () throws -> String
  ) {
    self.name = name
    self.package = package
    self.product = product
    self.executable = executable
  }

  /// Decodes photos and all other files but videos.
  package static let image = PictureProgram(
    name: HelperProgram.image.name, package: "photod-images", product: "pictures",
    executable: { try HelperProgram.image.find() })

  /// Decodes the embedded pictures of JPEGs. It starts ten times as fast as ``image``, which decodes them too.
  package static let preview = PictureProgram(
    name: HelperProgram.preview.name, package: "photod-images", product: "embedded pictures",
    executable: { try HelperProgram.preview.find() })

  /// Decodes single frames of videos.
  package static let video = PictureProgram(
    name: HelperProgram.video.name, package: "photod-videos", product: "pictures of videos",
    executable: { try HelperProgram.video.find() })
}
