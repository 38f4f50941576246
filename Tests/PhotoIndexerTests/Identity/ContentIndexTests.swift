import PhotoModel
import TestTools
import Testing

@testable import PhotoIndexer

@Suite struct ContentIndexTests {
  /// The law: the index answers as a comparison with each file does.
  @Test(arguments: UInt64(1)...50) func indexAnswersLikeALinearSearch(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func digest() -> ContentDigest? {
      let number = UInt64.random(in: 0...3, using: &random)
      return number == 0 ? nil : ContentDigest(high: 0, low: number)
    }
    func marks() -> (byteCount: Int64, marks: ContentMarks) {
      let fingerprint = UInt64.random(in: 0...2, using: &random)
      let marks = ContentMarks(fingerprint: fingerprint == 0 ? nil : fingerprint, sample: digest(), hash: digest())
      return (Int64.random(in: 1...2, using: &random), marks)
    }
    var index = ContentIndex()
    var files: [(byteCount: Int64, marks: ContentMarks)] = []
    for _ in 0..<Int.random(in: 0...12, using: &random) {
      let file = marks()
      index.insert(file.marks, byteCount: file.byteCount)
      files.append(file)
    }
    for _ in 0..<200 {
      let sought = marks()
      let isThere = files.contains { $0.byteCount == sought.byteCount && sought.marks.mayEqual($0.marks) }
      #expect(index.mayContain(sought.marks, byteCount: sought.byteCount) == isThere, "\(sought), \(files)")
    }
  }
}
