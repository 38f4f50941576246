import ArgumentParser
import PhotoModel
import SystemErrors
import WorkerProcess

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct ExtractCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "extract",
    abstract: "Prints all that photod reads of one file.",
    discussion: """
      It starts photod-extract, the program without rights that reads the metadata of photos. The file need not be in \
      the library, and photod need not run. The exit status is 65 if the file can't be read as a photo or video.

      EXAMPLES
        photoctl debug extract IMG_0001.heic
        photoctl debug extract IMG_0001.heic --json | jq .lens
      """)

  @Argument(help: "A photo or video.", completion: .file())
  var file: String

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let path = FilePath.bytes(file)
    // The program names the problem only. The exit status of an error is that of photoctl.
    let descriptor = open(path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw Failure(
        .noInput, "\(Printable.text(file)) can't be opened: \(errorText(errno))",
        remedy: "Name a file that you may read.", command: "debug extract")
    }
    close(descriptor)
    let program: String
    do {
      program = try HelperProgram.extract.find()
    } catch {
      throw Self.notStarted("\(error)")
    }
    let arguments = [Array(program.utf8), Array("--file".utf8), path] + (json ? [Array("--json".utf8)] : [])
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { word in
      strdup(word.map { CChar(bitPattern: $0) } + [0])
    }
    words.append(nil)
    execv(program, &words)
    throw Self.notStarted("\(WorkerError("\(program) can't be started", errorNumber: errno))")
  }

  private static func notStarted(_ problem: String) -> Failure {
    Failure(
      .unavailable, Printable.text(problem), remedy: "Install the package of photod again.", command: "debug extract")
  }
}
