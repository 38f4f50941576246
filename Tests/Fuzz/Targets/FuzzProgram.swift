import CLibFuzzer
import Glibc

/// The program of `make fuzz`. It gives one parser after another input that libFuzzer makes up, and ends with a report if a
/// rule is broken.
@main
enum FuzzProgram {
  private static let usage = """
    usage: photod-fuzz TARGET [OPTION...] [FILE|FOLDER...] | --list | --seeds TARGET FOLDER
    TARGET is a line of --list. A FILE is run once; a FOLDER holds the corpus, and gets new inputs.
    The options are those of libFuzzer: photod-fuzz TARGET -help=1 lists them.

    """

  /// The target of this run. libFuzzer's callback is a C function, which can't capture it. It is set once, before the first
  /// input.
  nonisolated(unsafe) private static var chosen: FuzzTarget?

  static func main() {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case nil, "--help": refuse(usage)
    case "--list":
      for target in FuzzTarget.all { print(target.name, target.endings.joined(separator: ",")) }
    case "--seeds":
      guard arguments.count == 4 else { refuse(usage) }
      writeSeeds(of: target(named: arguments[2]), to: arguments[3])
    case let name?: fuzz(target(named: name))
    }
  }

  private static func fuzz(_ target: FuzzTarget) -> Never {
    chosen = target
    // libFuzzer gets all arguments but the name of the target.
    let arguments = CommandLine.unsafeArgv
    arguments[1] = arguments[0]
    var count = CommandLine.argc - 1
    var rest: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = arguments + 1
    exit(
      LLVMFuzzerRunDriver(&count, &rest) { bytes, byteCount in
        FuzzProgram.chosen?.run(UnsafeRawBufferPointer(start: bytes, count: byteCount))
        return 0
      })
  }

  private static func writeSeeds(of target: FuzzTarget, to folder: String) {
    for (number, seed) in target.seeds.enumerated() {
      let descriptor = open("\(folder)/made-\(number)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
      guard descriptor >= 0, write(descriptor, seed, seed.count) == seed.count, close(descriptor) == 0 else {
        refuse("photod-fuzz: \(folder) can't be written\n")
      }
    }
  }

  private static func target(named name: String) -> FuzzTarget {
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
      refuse("photod-fuzz: there is no target \(name); --list names them\n")
    }
    return target
  }

  /// Ends the program with a text on standard error.
  private static func refuse(_ text: String) -> Never {
    _ = write(STDERR_FILENO, text, text.utf8.count)
    exit(64)
  }
}
