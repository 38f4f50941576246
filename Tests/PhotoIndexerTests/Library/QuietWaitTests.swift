import PhotoModel
import Testing

@testable import PhotoIndexer

@Suite struct QuietWaitTests {
  @Test func workBeginsWhenItIsQuiet() {
    var wait = QuietWait()
    let answers = [10, 11].map { wait.isOver(at: .boot + .seconds($0), lastChange: .boot + .seconds(10)) }
    #expect(answers == [false, true])
  }

  @Test func workBeginsAfterTheLongestWaitAndThenWaitsAnew() {
    var wait = QuietWait()
    func begins(in times: some Sequence<Int64>) -> [Int64] {
      times.filter { wait.isOver(at: .boot + .seconds($0), lastChange: .boot + .seconds($0)) }
    }
    #expect(begins(in: 0...80) == [30, 61])
    wait.end()
    #expect(begins(in: 95...96).isEmpty)
  }
}
