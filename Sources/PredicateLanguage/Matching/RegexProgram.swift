import PhotoModel

/// A regular expression compiled to a program that passes over a text once and tracks all states at the same time
/// (Thompson's construction, https://swtch.com/~rsc/regexp/regexp2.html). So no pattern takes longer than text times
/// program.
struct RegexProgram: Sendable {
  /// The most instructions of one program, with counted repetitions expanded.
  static let maximumCount = 1_000

  private enum Instruction: Sendable {
    case scalar(UInt32)
    /// An index in `sets`. The ASCII members are repeated here, to save a lookup.
    case set(Int, ascii: ScalarSet.ASCII)
    /// The run goes on at both.
    case split(Int, Int)
    case jump(Int)
    case start, end
    case accept
  }

  private var instructions: [Instruction] = []
  private var sets: [ScalarSet] = []
  /// The nodes visited while the program is written. Repetitions of nothing emit no instruction but take time.
  private var steps = 0

  var count: Int { instructions.count }

  /// About how much memory it takes, in bytes. Repetitions of a set share its ranges, which are as many as the pattern
  /// names.
  var byteCount: Int {
    instructions.count * MemoryLayout<Instruction>.stride + sets.count * MemoryLayout<ScalarSet>.stride
  }

  /// - Parameter modifiers: those of the comparison. ``matches(_:)`` takes folded texts.
  init(_ pattern: String, _ modifiers: TextModifiers) throws(PatternError) {
    var parser = RegexParser(pattern, modifiers)
    try write(try parser.parse())
    try emit(.accept)
  }

  // MARK: - Writing

  private mutating func emit(_ instruction: Instruction) throws(PatternError) {
    guard instructions.count < Self.maximumCount else { throw Self.tooLarge }
    instructions.append(instruction)
  }

  private static let tooLarge = PatternError(
    "the pattern is too large: its repetitions amount to more than \(maximumCount) steps", at: 0)

  private mutating func write(_ node: RegexNode) throws(PatternError) {
    steps += 1
    guard steps <= 10 * Self.maximumCount else { throw Self.tooLarge }
    switch node {
    case .scalar(let scalar): try emit(.scalar(scalar))
    case .set(let set):
      sets.append(set)
      try emit(.set(sets.count - 1, ascii: set.ascii))
    case .start: try emit(.start)
    case .end: try emit(.end)
    case .sequence(let nodes): for node in nodes { try write(node) }
    case .alternatives(let nodes):
      var jumps: [Int] = []
      for node in nodes.dropLast() {
        let split = instructions.count
        try emit(.jump(0))
        try write(node)
        jumps.append(instructions.count)
        try emit(.jump(0))
        instructions[split] = .split(split + 1, instructions.count)
      }
      if let last = nodes.last { try write(last) }
      for jump in jumps { instructions[jump] = .jump(instructions.count) }
    case .repeated(let inner, let least, let most):
      for _ in 0..<least { try write(inner) }
      try writeRest(of: inner, least: least, most: most)
    }
  }

  /// Writes the optional repetitions, after the required ones.
  private mutating func writeRest(of node: RegexNode, least: Int, most: Int?) throws(PatternError) {
    guard let most else {
      let split = instructions.count
      try emit(.jump(0))
      try write(node)
      try emit(.jump(split))
      instructions[split] = .split(split + 1, instructions.count)
      return
    }
    var splits: [Int] = []
    for _ in least..<most {
      splits.append(instructions.count)
      try emit(.jump(0))
      try write(node)
    }
    for split in splits { instructions[split] = .split(split + 1, instructions.count) }
  }

  // MARK: - Running

  /// - Complexity: O(n · m) for n scalars and m instructions.
  func matches(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
    let count = instructions.count
    return withUnsafeTemporaryAllocation(of: Int.self, capacity: 4 * count) { memory in
      memory.initialize(repeating: -1)
      var run = Run(
        program: self, end: utf8.count, current: memory.baseAddress!, next: memory.baseAddress! + count,
        waiting: memory.baseAddress! + 2 * count, seen: memory.baseAddress! + 3 * count)
      return run.matches(utf8)
    }
  }

  /// One pass over a text. Each of the four blocks of memory has room for every instruction.
  private struct Run {
    let program: RegexProgram
    /// The text's length in bytes.
    let end: Int
    /// The instructions that consume the current scalar.
    var current: UnsafeMutablePointer<Int>
    var currentCount = 0
    var next: UnsafeMutablePointer<Int>
    var nextCount = 0
    /// The instructions at which the run must still go on.
    let waiting: UnsafeMutablePointer<Int>
    /// For each instruction, the position in the text at which it was last reached.
    let seen: UnsafeMutablePointer<Int>
    var isAccepted = false

    init(
      program: RegexProgram, end: Int, current: UnsafeMutablePointer<Int>, next: UnsafeMutablePointer<Int>,
      waiting: UnsafeMutablePointer<Int>, seen: UnsafeMutablePointer<Int>
    ) {
      self.program = program
      self.end = end
      self.current = current
      self.next = next
      self.waiting = waiting
      self.seen = seen
    }

    mutating func matches(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
      add(0, at: 0)
      var steps = BudgetedSteps()
      var index = 0
      while index < end {
        swap(&current, &next)
        currentCount = nextCount
        nextCount = 0
        guard currentCount > 0, steps.mayTake(1 + 4 * currentCount) else { return false }
        isAccepted = false
        let scalar = Self.scalar(utf8, &index)
        for place in 0..<currentCount {
          let instruction = current[place]
          switch program.instructions[instruction] {
          case .scalar(let wanted): if wanted == scalar { add(instruction + 1, at: index) }
          case .set(let set, let ascii):
            if scalar < 128 ? ascii.contains(scalar) : program.sets[set].contains(scalar) {
              add(instruction + 1, at: index)
            }
          default: break
          }
        }
      }
      return isAccepted
    }

    /// Adds the instruction, and those that follow from it without consuming a scalar.
    private mutating func add(_ instruction: Int, at index: Int) {
      var count = 0
      func wait(for instruction: Int) {
        guard seen[instruction] != index else { return }
        seen[instruction] = index
        waiting[count] = instruction
        count += 1
      }
      wait(for: instruction)
      while count > 0 {
        count -= 1
        let instruction = waiting[count]
        switch program.instructions[instruction] {
        case .scalar, .set:
          next[nextCount] = instruction
          nextCount += 1
        case .split(let one, let other):
          wait(for: other)
          wait(for: one)
        case .jump(let target): wait(for: target)
        case .start: if index == 0 { wait(for: instruction + 1) }
        case .end: if index == end { wait(for: instruction + 1) }
        case .accept: isAccepted = true
        }
      }
    }

    /// Decodes any bytes. Invalid UTF-8 gives some value.
    @inline(__always)
    private static func scalar(_ utf8: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> UInt32 {
      let first = utf8[index]
      index += 1
      guard first >= 0xC0 else { return UInt32(first) }
      var value = UInt32(first) & (first < 0xE0 ? 0x1F : first < 0xF0 ? 0x0F : 0x07)
      while index < utf8.count, utf8[index] & 0xC0 == 0x80 {
        value = value << 6 | UInt32(utf8[index] & 0x3F)
        index += 1
      }
      return value
    }
  }
}
