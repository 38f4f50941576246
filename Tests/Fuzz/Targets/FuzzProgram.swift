import Glibc

/// The program of `make fuzz`. It gives one parser after another input that libFuzzer makes up, and ends with a report if a
/// rule is broken.
///
/// libFuzzer has the function `main`. It calls the two functions of C at the end of this file
/// (https://llvm.org/docs/LibFuzzer.html).
enum FuzzProgram {
  private static let usage = """
    usage: photod-fuzz TARGET [OPTION...] [FILE|FOLDER...] | --list | --seeds TARGET FOLDER
    TARGET is a line of --list. A FILE is run once; a FOLDER holds the corpus, and gets new inputs.
    The options are those of libFuzzer: photod-fuzz TARGET -help=1 lists them.

    """

  /// The target of this run. It is set once, before the first input.
  nonisolated(unsafe) fileprivate static var chosen: FuzzTarget?

  /// Carries out the commands that need no libFuzzer, or chooses the target.
  fileprivate static func start(_ arguments: [String]) {
    switch arguments.dropFirst().first {
    case nil, "--help": refuse(usage)
    case "--list":
      for target in FuzzTarget.all { print(target.name, target.endings.joined(separator: ",")) }
      exit(0)
    case "--seeds":
      guard arguments.count == 4 else { refuse(usage) }
      writeSeeds(of: target(named: arguments[2]), to: arguments[3])
      exit(0)
    case let name?: chosen = target(named: name)
    }
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

/// libFuzzer gets all arguments but the name of the target.
@_cdecl("LLVMFuzzerInitialize")
public func initializeFuzzer(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> Int32 {
  FuzzProgram.start((0..<Int(count.pointee)).map { String(cString: arguments.pointee[$0]!) })
  arguments.pointee[1] = arguments.pointee[0]
  arguments.pointee += 1
  count.pointee -= 1
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func runOneInput(_ bytes: UnsafePointer<UInt8>?, _ byteCount: Int) -> Int32 {
  FuzzProgram.chosen?.run(UnsafeRawBufferPointer(start: bytes, count: byteCount))
  return 0
}
