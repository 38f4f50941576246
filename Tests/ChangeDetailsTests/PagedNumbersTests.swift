import TestTools
import Testing

@testable import ChangeDetails

@Suite struct PagedNumbersTests {
  @Test func arrayAndItsCopiesAgreeWithDictionaries() {
    for seed in 1...6 as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let widest: Int64 = [200, 300, 20_000, 2_000_000, 1 << 40, .max][Int(seed) - 1]
      var numbers = PagedNumbers()
      var model: [Int64: UInt32] = [:]
      var kept: [(PagedNumbers, [Int64: UInt32])] = []
      for step in 0..<2_000 {
        let index = Int64.random(in: 0...Int64.random(in: 0...widest, using: &generator), using: &generator)
        let number = generator.once(in: 3) ? 0 : UInt32.random(in: 1 ... .max, using: &generator)
        #expect(numbers.replace(index, with: number) == model[index, default: 0], "seed \(seed), step \(step)")
        model[index] = number == 0 ? nil : number
        if generator.once(in: 50) { kept.append((numbers, model)) }
      }
      for (numbers, model) in kept + [(numbers, model)] {
        for index in Set(kept.flatMap { $0.1.keys }) {
          #expect(numbers[index] == model[index, default: 0], "seed \(seed), index \(index)")
        }
        #expect(numbers[-1] == 0 && numbers[.min] == 0)
      }
    }
  }

  @Test func creationFromAnArrayEqualsSettingEachNumber() {
    for count in [0, 1, 255, 256, 257, 20_000] {
      // Every second page is empty.
      var array = [UInt32](repeating: 0, count: count)
      for index in array.indices where index / 256 % 2 == 0 && index % 3 > 0 { array[index] = UInt32(index) }
      var numbers = PagedNumbers(array)
      var oneByOne = PagedNumbers()
      for (index, number) in array.enumerated() { oneByOne[Int64(index)] = number }
      #expect((0..<Int64(count) + 300).allSatisfy { numbers[$0] == oneByOne[$0] })
      #expect(numbers.pageCount == oneByOne.pageCount)
      for index in array.indices { numbers[Int64(index)] = 0 }
      #expect(numbers.root.used == 0)
    }
  }

  @Test func emptyPagesAreReleased() {
    var numbers = PagedNumbers()
    for index in 0..<100_000 as Range<Int64> { numbers[index] = 1 }
    for index in 0..<99_999 as Range<Int64> { numbers[index] = 0 }
    var bytes = 0
    numbers.visitPages {
      bytes += $1
      return true
    }
    #expect(bytes < 4_000)
    numbers[99_999] = 0
    #expect(numbers.root.used == 0)
  }

  @Test func aChangeAfterACopyCopiesOnePath() {
    var numbers = PagedNumbers()
    for index in 0..<1_000_000 as Range<Int64> { numbers[index] = 1 }
    let copy = numbers
    numbers[777_777] = 2
    var old: Set<ObjectIdentifier> = []
    copy.visitPages { page, _ in old.insert(page).inserted }
    var pages = 0
    numbers.visitPages { page, _ in
      if old.contains(page) { return false }
      pages += 1
      return true
    }
    // One page of numbers, and two inner pages above it: 256 · 64 · 64 indexes are more than a million.
    #expect(pages == 3)
    #expect(copy[777_777] == 1 && numbers[777_777] == 2)
  }
}

extension PagedNumbers {
  fileprivate var pageCount: Int {
    var pages = 0
    visitPages { _, _ in
      pages += 1
      return true
    }
    return pages
  }
}
