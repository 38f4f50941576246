import ArgumentParser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// When to use colours.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, always, never
}

/// Highlights text, if wanted, with the codes of ECMA-48, 8.3.117.
struct Style: Hashable, Sendable {
  let isColored: Bool

  static let plain = Style(isColored: false)

  init(isColored: Bool) { self.isColored = isColored }

  /// - Parameter environment: returns a variable. `NO_COLOR` turns colours off if it is set and not empty
  ///   (https://no-color.org). `CLICOLOR_FORCE` turns them on without a terminal. `--color` overrides both.
  init(_ choice: ColorChoice, isTerminal: Bool, environment: (String) -> String? = Style.variable) {
    switch choice {
    case .always: isColored = true
    case .never: isColored = false
    case .auto:
      if environment("NO_COLOR")?.isEmpty == false {
        isColored = false
      } else if let force = environment("CLICOLOR_FORCE"), !force.isEmpty, force != "0" {
        isColored = true
      } else {
        isColored = isTerminal && !["dumb", "", nil].contains(environment("TERM"))
      }
    }
  }

  static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  func good(_ text: String) -> String { set(text, "32") }
  func doubtful(_ text: String) -> String { set(text, "33") }
  func bad(_ text: String) -> String { set(text, "31") }

  private func set(_ text: String, _ code: String) -> String { isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
