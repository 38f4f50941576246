import Testing

@testable import Varlink

@Suite struct ConnectionTableTests {
  @Test func countsAreSumsOverTheConnections() {
    var table = ConnectionTable<Int>()
    var expected: [Int: (process: Int32, listener: Int)] = [:]
    for number in 1...5_000 {
      let (process, listener) = (Int32.random(in: 1...20), Int.random(in: 1...3))
      if Bool.random() || expected.isEmpty {
        table.insert(.init(connection: -number, process: process, listener: listener), number: number)
        expected[number] = (process, listener)
      } else if Int.random(in: 0..<200) > 0 {
        // One that ended before is taken out twice now and then.
        let ended = Int.random(in: 0..<3) > 0 ? expected.keys.randomElement()! : Int.random(in: 1...number)
        table.remove(ended)
        expected[ended] = nil
      } else {
        table.removeAll(ofListener: listener)
        expected = expected.filter { $0.value.listener != listener }
      }
      #expect(table.count == expected.count)
      #expect(table.count(ofProcess: process) == expected.values.count { $0.process == process })
      #expect(table.isEmpty(ofListener: listener) == !expected.values.contains { $0.listener == listener })
    }
    #expect(table.all.sorted() == expected.keys.map { -$0 }.sorted())
    let ofFirst = expected.filter { $0.value.listener == 1 }.keys
    #expect(table.all(ofListener: 1).sorted() == ofFirst.map { -$0 }.sorted())
    for number in expected.keys { #expect(table[number] == -number) }
    for number in expected.keys { table.remove(number) }
    #expect(table.count == 0 && (1...20).allSatisfy { table.count(ofProcess: $0) == 0 })
    #expect(table[1] == nil)
  }
}
