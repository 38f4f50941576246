import Glibc
import PhotoCatalog

/// Measures internal functions, for which the figures of a client would mostly show the client itself. It also makes
/// the catalogs for the other measurements. It prints one line of JSON: a list of figures for each name.
@main
enum Measure {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.dropFirst().map(\.self)) {
    case ("catalog", let rest) where rest.count == 3:
      var maker = CatalogMaker(path: rest[0], folder: rest[1], count: try number(rest[2]))
      try maker.make()
    case ("details", let rest) where rest.count == 2:
      Figures.print(try detailFigures(count: try number(rest[0]), rounds: try number(rest[1])))
    case ("observations", let rest) where rest.count >= 2:
      Figures.print(try observationFigures(rounds: try number(rest[0]), paths: Array(rest[1...])))
    case ("fetches", let rest) where rest.count == 2:
      Figures.print(try fetchFigures(rounds: try number(rest[0]), path: rest[1]))
    case ("albums", let rest) where rest.count == 3:
      Figures.print(try albumFigures(count: try number(rest[0]), rounds: try number(rest[1]), path: rest[2]))
    case ("reads", let rest) where rest.count == 1: print(try readFigures(folder: rest[0]))
    case ("edits", let rest) where rest.count == 3:
      Figures.print(try editFigures(count: try number(rest[0]), members: try number(rest[1]), path: rest[2]))
    case ("client", let rest) where rest.count == 2:
      Figures.print(try await clientFigures(rounds: try number(rest[0]), socket: rest[1]))
    case ("follow", let rest) where rest.count == 2:
      try await followClient(changes: try number(rest[0]), socket: rest[1])
    default:
      let usage = """
        usage: photod-measure catalog PATH FOLDER COUNT
               photod-measure details COUNT ROUNDS
               photod-measure observations ROUNDS CATALOG ...
               photod-measure fetches ROUNDS CATALOG
               photod-measure albums COUNT ROUNDS CATALOG
               photod-measure reads FOLDER
               photod-measure edits COUNT MEMBERS CATALOG
               photod-measure client ROUNDS SOCKET
               photod-measure follow CHANGES SOCKET

        """
      _ = write(STDERR_FILENO, usage, usage.utf8.count)
      exit(64)
    }
  }

  private static func number(_ text: String) throws -> Int {
    guard let number = Int(text), number > 0 else { throw UsageError(text: text) }
    return number
  }

  private struct UsageError: Error { let text: String }
}

/// Milliseconds by the name of the measured work.
struct Figures {
  private(set) var values: [(name: String, milliseconds: [Double])] = []

  mutating func add(_ name: String, _ milliseconds: Double) {
    guard let index = values.firstIndex(where: { $0.name == name }) else {
      values.append((name, [milliseconds]))
      return
    }
    values[index].milliseconds.append(milliseconds)
  }

  /// - Parameter clock: the thread's clock leaves out the time that other processes take on a busy machine.
  mutating func time<Value>(
    _ name: String, per count: Int = 1, _ clock: clockid_t = CLOCK_THREAD_CPUTIME_ID, _ body: () throws -> Value
  ) rethrows -> Value {
    let began = Self.milliseconds(clock)
    let value = try body()
    add(name, (Self.milliseconds(clock) - began) / Double(count))
    return value
  }

  private static func milliseconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
  }

  static func print(_ figures: Figures) {
    let lists = figures.values.map { name, values in
      "\"\(name)\": [" + values.map { "\($0)" }.joined(separator: ", ") + "]"
    }
    Swift.print("{" + lists.joined(separator: ", ") + "}")
  }
}
