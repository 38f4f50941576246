import PhotoClient
import SystemErrors

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

enum Base64Text {
  static func encoded(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}

/// Shows pictures of assets in the terminal.
struct ShownPicture {
  private let graphics: TerminalGraphics
  private let images: ImageManager
  private let size: ImageSize

  /// - Throws: ``Failure`` if the output is no terminal that can show pictures.
  init(of library: PhotoLibrary) throws {
    let remedy = "Use kitty, WezTerm, Ghostty or foot, or write a file: `photoctl thumbnail ID --output DIR`."
    guard Output.isTerminal else {
      throw Failure(.usage, "--picture needs a terminal, and the output is none", remedy: remedy, command: "show")
    }
    let terminal = GraphicsTerminal()
    graphics = terminal.graphics()
    switch graphics {
    case .kitty: break
    case .sixel:
      guard Self.program("img2sixel") != nil else {
        throw Failure(
          .unavailable, "this terminal shows pictures as sixels, and img2sixel is not installed",
          remedy: "Install the package libsixel-bin.", command: "show")
      }
    case .none:
      throw Failure(
        .unavailable, "this terminal does not answer that it can show pictures", remedy: remedy, command: "show")
    }
    let pixels = terminal.pixels
    size = ImageSize(width: pixels.width, height: pixels.height)
    images = ImageManager(of: library)
  }

  /// Writes the picture, and a line break.
  ///
  /// - Throws: ``PhotoLibraryError`` if there is no picture.
  func put(_ id: AssetID) async throws {
    let isKitty = graphics == .kitty
    let options = ImageRequestOptions(
      deliveryMode: .highQuality, resizeMode: .exact, format: isKitty ? .png : .jpeg)
    let image = try await images.image(for: id, targetSize: size, options: options)
    if isKitty {
      try Output.put(TerminalGraphics.kittyCommands(png: try await images.data(of: image)))
    } else if case .file(let path) = image.content, let program = Self.program("img2sixel") {
      try Self.run(program, path)
    }
  }

  /// The path of a program in the folders of PATH; nil if it is not installed.
  private static func program(_ name: String) -> String? {
    (Style.variable("PATH") ?? "").split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  private static func run(_ program: String, _ path: String) throws {
    var process: pid_t = 0
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(path), nil]
    defer { for argument in arguments { free(argument) } }
    let code = posix_spawn(&process, program, nil, nil, &arguments, environ)
    var status: Int32 = 0
    while code == 0, waitpid(process, &status, 0) < 0, errno == EINTR {}
    guard code == 0, status == 0 else {
      let reason = code != 0 ? errorText(code) : "it ended with the status \(status >> 8 & 0xFF)"
      throw Failure(
        .unavailable, "\(program) failed: \(reason)", remedy: "Try `\(program) FILE` with another picture.",
        command: "show")
    }
  }
}
