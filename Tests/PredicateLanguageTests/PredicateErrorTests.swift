import Testing

import struct Foundation.Data
import class Foundation.ProcessInfo
import struct Foundation.URL

@testable import PredicateLanguage

@Suite struct PredicateErrorTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Snapshots/predicate-errors.txt")

  /// The error for each text in Snapshots/predicate-errors.txt (lines that begin with `>`), with a mark below its
  /// position. PHOTOD_RECORD_SNAPSHOTS=1 writes the errors anew. Read the difference before you commit it.
  @Test func errorMessagesEqualTheSnapshot() throws {
    let golden = try String(contentsOf: Self.file, encoding: .utf8)
    let texts = golden.split(separator: "\n").filter { $0.hasPrefix("> ") }.map { String($0.dropFirst(2)) }
    #expect(texts.count > 150)
    var answers = ""
    for text in texts {
      do {
        let predicate = try Predicate(parsing: text)
        Issue.record("\(text) is no mistake: \(predicate)")
      } catch {
        #expect((0...text.unicodeScalars.count).contains(error.position))
        #expect(error.message.count < 200, "\(error.message)")
        answers +=
          "> \(text)\n  \(String(repeating: " ", count: error.position))^ \(error.position)\n\(error.message)\n\n"
      }
    }
    if ProcessInfo.processInfo.environment["PHOTOD_RECORD_SNAPSHOTS"] == "1" {
      try Data(answers.utf8).write(to: Self.file)
    } else {
      #expect(answers == golden)
    }
  }

  @Test func boundsAreErrors() {
    func message(_ text: String) -> String? {
      do {
        _ = try Predicate(parsing: text)
        return nil
      } catch { return error.message }
    }
    #expect(message("") == "expected a key such as creationDate, NOT, or (, found the end")
    let deep = { (n: Int) in String(repeating: "(", count: n) + "id==1" + String(repeating: ")", count: n) }
    #expect(message(deep(199)) == nil)
    #expect(message(deep(200)) == "there are more than 200 nested parentheses and NOTs")
    #expect(message(String(repeating: "!", count: 65_000)) == "there are more than 200 nested parentheses and NOTs")
    let wide = { (n: Int) in Array(repeating: "id==1", count: n).joined(separator: "||") }
    #expect(message(wide(500)) == nil)
    #expect(message(wide(501)) == "there are more than 500 comparisons; for many values of one key, write key IN {…}")
    let list = { (n: Int) in "id IN {" + Array(repeating: "1", count: n).joined(separator: ",") + "}" }
    #expect(message(list(5_000)) == nil)
    #expect(message(list(5_001)) == "the lists have more than 5000 values")
    #expect(
      message(String(repeating: " ", count: 65_537)) == "the predicate has 65537 bytes, and the limit is 65536")
  }
}
