// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

import TestTools
import Testing
import WatchRecords

@Suite struct RoundTripTests {
  @Test(arguments: 0..<50) func randomRecordsSurviveARoundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let records = (0..<Int.random(in: 1...200, using: &random)).map { _ in WatchRecord.random(&random) }
    var assembler = FrameAssembler()
    assembler.append(WatchStream.greeting)
    assembler.append(WatchStream.frame(records))
    let payload = try #require(try assembler.next())
    #expect(try WatchStream.records(in: payload) == records)
    #expect(try assembler.next() == nil)
  }

  @Test(arguments: 0..<50) func randomOrdersSurviveARoundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let orders = (0..<20).map { _ in WatchOrder.random(&random) }
    var assembler = FrameAssembler()
    assembler.append(WatchStream.greeting)
    var received: [WatchOrder] = []
    for order in orders {
      assembler.append(WatchStream.frame(order))
      while let payload = try assembler.next() { received += try WatchStream.orders(in: payload) }
    }
    #expect(received == orders)
  }

  @Test(arguments: 0..<20) func framesSurviveARoundTripHoweverTheyAreCut(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var bytes = WatchStream.greeting
    var records: [WatchRecord] = []
    for _ in 0..<10 {
      let frame = (0..<Int.random(in: 1...30, using: &random)).map { _ in WatchRecord.random(&random) }
      records += frame
      bytes += WatchStream.frame(frame)
    }
    var assembler = FrameAssembler()
    var received: [WatchRecord] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 1...300, using: &random))
      rest = rest.dropFirst(piece.count)
      assembler.append(piece)
      while let payload = try assembler.next() { received += try WatchStream.records(in: payload) }
    }
    #expect(received == records)
  }

  @Test func aFullFrameStaysBelowTheLimit() {
    var builder = FrameBuilder()
    let longest = [UInt8](repeating: 1, count: Int(UInt16.max))
    while !builder.isFull {
      builder.append(.fileMoved(from: 1, fromName: longest, to: 2, toName: longest, stat: nil))
    }
    #expect(builder.take().count <= WatchStream.maximumFrameBytes)
    #expect(builder.isEmpty)
  }
}

@Suite struct GarbageTests {
  @Test(arguments: TestTier.seeds(200)) func garbageIsAnErrorOrRecordsAndNeverATrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      _ = Result { try WatchStream.records(in: bytes[...]) }
      _ = Result { try WatchStream.orders(in: bytes[...]) }
      var assembler = FrameAssembler()
      assembler.append(bytes)
      _ = Result { try assembler.next() }
    }
  }

  @Test(arguments: 0..<100) func oneWrongByteIsAnErrorOrOtherRecords(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let records = (0..<5).map { _ in WatchRecord.random(&random) }
    let frame = WatchStream.frame(records)[4...]
    for position in frame.indices {
      var changed = frame
      changed[position] ^= UInt8.random(in: 1...255, using: &random)
      switch Result(catching: { try WatchStream.records(in: changed) }) {
      case .success(let decoded): #expect(decoded != records)
      case .failure(let error as WatchFormatError): #expect(error.offset >= 0 && error.offset <= frame.count)
      case .failure(let error): Issue.record("\(error)")
      }
    }
  }

  @Test func everyTruncationIsAnError() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<100 {
      let frame = WatchStream.frame([WatchRecord.random(&random)])[4...]
      for length in 1..<frame.count {
        #expect(throws: WatchFormatError.self) { try WatchStream.records(in: frame.prefix(length)) }
      }
    }
  }

  @Test func anErrorHasItsProblemAndPosition() {
    let error = #expect(throws: WatchFormatError.self) { try WatchStream.records(in: [3, 1, 0, 0, 0, 0, 0, 0, 0, 9]) }
    #expect(error?.description == "evidence can't be 9, at byte 9")
    let unknown = #expect(throws: WatchFormatError.self) { try WatchStream.records(in: [12, 77]) }
    #expect(unknown?.description == "tag 77 is no record, at byte 1")
  }

  @Test func anotherVersionIsRefused() {
    var assembler = FrameAssembler()
    assembler.append(WatchStream.greeting.dropLast() + [WatchStream.version + 1])
    #expect(throws: WatchFormatError.self) { try assembler.next() }
  }

  @Test func aFrameBeyondTheLimitIsRefusedAtItsLength() throws {
    for length in [0, WatchStream.maximumFrameBytes + 1, Int(UInt32.max)] {
      var assembler = FrameAssembler()
      assembler.append(WatchStream.greeting + (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) })
      #expect(throws: WatchFormatError.self) { try assembler.next() }
    }
  }
}
