#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How a terminal shows pictures, by its own answer. The variable TERM does not show that.
enum TerminalGraphics: Equatable, Sendable {
  /// The graphics protocol of kitty (https://sw.kovidgoyal.net/kitty/graphics-protocol/), with PNG.
  case kitty
  case sixel
  case none

  /// A picture of one pixel that is not shown, and then the request for the device's attributes (DA1). Every terminal
  /// answers the latter, so the answer to the former has come by then, or never comes.
  static let query = "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c"

  /// - Parameter answer: what the terminal sent after ``query``.
  init(answer: [UInt8]) {
    let text = String(decoding: answer, as: UTF8.self)
    if text.contains("\u{1B}_Gi=31;OK") {
      self = .kitty
    } else {
      self = Self.attributes(in: text).contains("4") ? .sixel : .none
    }
  }

  /// Whether the answer to DA1, `ESC [ ? 62 ; 4 c`, is whole.
  static func isComplete(_ answer: [UInt8]) -> Bool { !attributes(in: String(decoding: answer, as: UTF8.self)).isEmpty }

  private static func attributes(in text: String) -> [Substring] {
    guard let start = text.firstRange(of: "\u{1B}[?") else { return [] }
    let rest = text[start.upperBound...]
    guard let end = rest.firstIndex(where: { !$0.isNumber && $0 != ";" }), rest[end] == "c" else { return [] }
    return rest[..<end].split(separator: ";")
  }

  /// The commands that show a PNG picture at the cursor.
  static func kittyCommands(png: [UInt8]) -> [UInt8] {
    let encoded = Array(Base64Text.encoded(png).utf8)
    var commands: [UInt8] = []
    var isFirst = true
    var rest = encoded[...]
    repeat {
      // The protocol allows 4,096 bytes in a command.
      let chunk = rest.prefix(4096)
      rest = rest.dropFirst(chunk.count)
      let keys = isFirst ? "a=T,f=100,q=2,m=\(rest.isEmpty ? 0 : 1)" : "m=\(rest.isEmpty ? 0 : 1)"
      commands += Array("\u{1B}_G\(keys);".utf8) + chunk + Array("\u{1B}\\".utf8)
      isFirst = false
    } while !rest.isEmpty
    return commands + [UInt8(ascii: "\n")]
  }
}

/// The terminal of standard output.
struct GraphicsTerminal {
  /// Terminals answer within milliseconds. One over a slow connection may need longer.
  private static let patience = 2_000

  /// The room for a picture, in pixels: the width of the window, and half of its height.
  var pixels: (width: Int, height: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return (640, 240)
    }
    // Many terminals do not report their size in pixels. A usual cell has 8 by 16.
    let width = size.ws_xpixel > 0 ? Int(size.ws_xpixel) : Int(size.ws_col) * 8
    let height = size.ws_ypixel > 0 ? Int(size.ws_ypixel) : Int(size.ws_row) * 16
    return (min(max(width, 64), 2048), min(max(height / 2, 64), 2048))
  }

  /// Asks the terminal how it shows pictures.
  ///
  /// - Returns: `none` also if it does not answer within two seconds.
  func graphics() -> TerminalGraphics {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { return .none }
    defer { close(terminal) }
    var before = termios()
    guard tcgetattr(terminal, &before) == 0 else { return .none }
    var raw = before
    // The answer must come without a line break, and must not be shown.
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    guard tcsetattr(terminal, TCSAFLUSH, &raw) == 0 else { return .none }
    // Later bytes are dropped, so that the shell does not read them.
    defer { tcsetattr(terminal, TCSAFLUSH, &before) }
    let query = Array(TerminalGraphics.query.utf8)
    guard write(terminal, query, query.count) == query.count else { return .none }
    return TerminalGraphics(answer: Self.answer(from: terminal))
  }

  private static func answer(from terminal: Int32) -> [UInt8] {
    var answer: [UInt8] = []
    let end = ContinuousClock.now + .milliseconds(patience)
    while !TerminalGraphics.isComplete(answer), answer.count < 4096 {
      let left = (end - ContinuousClock.now) / .milliseconds(1)
      guard left > 0 else { break }
      var wait = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
      let ready = poll(&wait, 1, Int32(left.rounded(.up)))
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { break }
      var buffer = [UInt8](repeating: 0, count: 256)
      let count = read(terminal, &buffer, buffer.count)
      guard count > 0 else { break }
      answer += buffer[..<count]
    }
    return answer
  }
}
