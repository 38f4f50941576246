/// A sparse array of numbers that is cheap to copy. It is a radix tree. A page exists only if it contains a number
/// other than 0.
///
/// A copy shares all pages with the original. A change copies only the shared pages on the path from the root to the
/// number: one page of 1 kB, and others of about 0.5 kB. If the indexes are dense, as the rowids of a table are, each
/// costs about 4.4 bytes.
package struct PagedNumbers: Sendable {
  /// A page of numbers, or an inner page that refers to other pages. A page is changed in place if only one tree refers
  /// to it.
  final class Page {
    /// How many of its numbers are not 0, or how many of its pages exist.
    var used: Int
    /// Empty in an inner page.
    var numbers: [UInt32]
    /// Empty in a page of numbers.
    var pages: [Page?]

    init(height: Int) {
      used = 0
      numbers = height == 0 ? [UInt32](repeating: 0, count: 1 << PagedNumbers.numberBits) : []
      pages = height == 0 ? [] : [Page?](repeating: nil, count: 1 << PagedNumbers.pageBits)
    }

    init(copying page: Page) {
      used = page.used
      numbers = page.numbers
      pages = page.pages
    }

    func replace(_ slot: Int, with number: UInt32) -> UInt32 {
      let old = numbers[slot]
      numbers[slot] = number
      used += (number == 0 ? 0 : 1) - (old == 0 ? 0 : 1)
      return old
    }
  }

  static let numberBits = 8
  /// An inner page is smaller than a page of numbers, because copying it retains each page to which it refers.
  static let pageBits = 6

  private(set) var root = Page(height: 0)
  /// The number of inner pages between the array and a page of numbers.
  private(set) var height = 0

  package init() {}

  /// Creates a sparse array from an array. Each index keeps its number.
  init(_ numbers: [UInt32]) {
    let size = 1 << Self.numberBits
    for start in stride(from: 0, to: numbers.count, by: size) {
      let run = numbers[start..<min(start + size, numbers.count)]
      let used = run.count { $0 != 0 }
      guard used > 0 else { continue }
      // This creates the page and the inner pages above it. The page is then overwritten as a whole.
      self[Int64(start)] = 1
      guard let page = page(holding: Int64(start)) else { continue }
      page.numbers.replaceSubrange(0..<run.count, with: run)
      page.used = used
    }
  }

  /// The number at an index. Any index can be read. An index that was never set reads as 0, and so does a negative one.
  ///
  /// - Precondition: only an index of 0 or more is set to a number other than 0.
  /// - Complexity: O(log n) with a base of 64, for the largest index n.
  package subscript(index: Int64) -> UInt32 {
    get {
      guard index >= 0, fits(index) else { return 0 }
      return page(holding: index)?.numbers[Int(index) & (1 << Self.numberBits - 1)] ?? 0
    }
    set { replace(index, with: newValue) }
  }

  /// Sets the number at an index.
  ///
  /// - Returns: the previous number.
  @discardableResult
  package mutating func replace(_ index: Int64, with number: UInt32) -> UInt32 {
    if number == 0 {
      guard self[index] != 0 else { return 0 }
    } else {
      precondition(index >= 0, "an index of \(index)")
      while !fits(index) { grow() }
    }
    return Self.replace(index, with: number, in: &root, height: height)
  }

  /// The page of numbers that contains an index, or nil if it does not exist. The index must fit.
  private func page(holding index: Int64) -> Page? {
    var page = root
    var shift = Self.numberBits + Self.pageBits * (height - 1)
    while shift >= Self.numberBits {
      guard let next = page.pages[Int(index >> shift) & (1 << Self.pageBits - 1)] else { return nil }
      page = next
      shift -= Self.pageBits
    }
    return page
  }

  /// Whether the tree is high enough for an index.
  private func fits(_ index: Int64) -> Bool { index >> (Self.numberBits + Self.pageBits * height) == 0 }

  private mutating func grow() {
    height += 1
    let above = Page(height: height)
    if root.used > 0 {
      above.pages[0] = root
      above.used = 1
    }
    root = above
  }

  private static func replace(_ index: Int64, with number: UInt32, in page: inout Page, height: Int) -> UInt32 {
    if !isKnownUniquelyReferenced(&page) { page = Page(copying: page) }
    guard height > 0 else { return page.replace(Int(index) & (1 << numberBits - 1), with: number) }

    let slot = Int(index >> (numberBits + pageBits * (height - 1))) & (1 << pageBits - 1)
    if page.pages[slot] == nil {
      page.pages[slot] = Page(height: height - 1)
      page.used += 1
    }
    let old = replace(index, with: number, inSlot: &page.pages[slot], height: height - 1)
    if number == 0, page.pages[slot]?.used == 0 {
      page.pages[slot] = nil
      page.used -= 1
    }
    return old
  }

  private static func replace(_ index: Int64, with number: UInt32, inSlot page: inout Page?, height: Int) -> UInt32 {
    guard var below = page.take() else { return 0 }
    let old = replace(index, with: number, in: &below, height: height)
    page = below
    return old
  }
}

// A page is changed only while exactly one tree refers to it. A page that two threads share therefore never changes.
extension PagedNumbers.Page: @unchecked Sendable {}

extension PagedNumbers {
  /// Calls `body` with every page and its size in bytes. If `body` returns false, the pages below are skipped.
  func visitPages(_ body: (ObjectIdentifier, Int) -> Bool) { Self.visit(root, body) }

  private static func visit(_ page: Page, _ body: (ObjectIdentifier, Int) -> Bool) {
    // 80 bytes are for the object and for the header of its array.
    let bytes = 80 + page.numbers.capacity * 4 + page.pages.capacity * 8
    guard body(ObjectIdentifier(page), bytes) else { return }
    for case let below? in page.pages { visit(below, body) }
  }
}
