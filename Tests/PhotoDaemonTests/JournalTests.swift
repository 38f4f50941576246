import Glibc
import Logging
import Testing

@testable import PhotoDaemon

@Suite struct JournalTests {
  private func logger(_ socket: String, written: @escaping @Sendable ([UInt8]) -> Void = { _ in }) throws -> Logger {
    let journal = try #require(JournalSocket(path: socket))
    return Logger(label: "photod") { LogOutput(label: $0, form: .journal, journal: journal, write: written) }
  }

  @Test func anEventIsAnEntryOfFields() async throws {
    let scratch = try Scratch()
    let socket = try NotifySocket("\(scratch.path)/journal")
    try logger("\(scratch.path)/journal").warning("root offline", metadata: ["root": "/a b", "log-level": "info"])
    #expect(
      try await socket.next() == """
        MESSAGE=root offline log-level=info root="/a b"
        PRIORITY=4
        SYSLOG_IDENTIFIER=photod
        PHOTOD_MESSAGE=root-offline
        PHOTOD_LOG_LEVEL=info
        PHOTOD_ROOT=/a b

        """)
  }

  @Test func aValueOfSeveralLinesHasItsLengthBeforeIt() async throws {
    let scratch = try Scratch()
    let socket = try NotifySocket("\(scratch.path)/journal")
    try logger("\(scratch.path)/journal").error("call failed", metadata: ["error": "a\nPRIORITY=0"])
    #expect(
      try await socket.next() == """
        MESSAGE=call failed error="a\\nPRIORITY=0"
        PRIORITY=3
        SYSLOG_IDENTIFIER=photod
        PHOTOD_MESSAGE=call-failed
        PHOTOD_ERROR
        \u{0C}\0\0\0\0\0\0\0a
        PRIORITY=0

        """)
  }

  @Test func entryThatTheJournalRefusesIsALineWithItsPriority() throws {
    let scratch = try Scratch()
    let socket = try NotifySocket("\(scratch.path)/journal")
    let lines = LockedText()
    let logger = try logger("\(scratch.path)/journal") { lines.append($0) }
    #expect(unlink("\(scratch.path)/journal") == 0)
    logger.notice("live", metadata: ["assets": "3"])
    #expect(lines.text == "<5>live assets=3\n")
    withExtendedLifetime(socket) {}
  }

  @Test func withoutAJournalThereIsNoSocket() throws {
    #expect(JournalSocket(path: "\(try Scratch().path)/none") == nil)
  }

  @Test(arguments: [
    ("root offline", "root-offline"), ("photod-watch died", "photod-watch-died"), ("live", "live"),
  ]) func theKeyIsTheMessageAsAWord(message: String, key: String) { #expect(LogOutput.key(message) == key) }

  @Test func repeatedMessageIsCounted() throws {
    let lines = LockedText()
    let logger = Logger(label: "photod") { LogOutput(label: $0, form: .journal) { lines.append($0) } }
    let start = ContinuousClock.now
    let time = LockedTime(start)
    let counted = RepeatedMessages.counted(logger) { time.now }
    for _ in 0..<3 { counted.warning("connection refused", metadata: ["uid": "7"]) }
    counted.error("accept failed")
    time.now = start.advanced(by: .seconds(60))
    counted.warning("connection refused", metadata: ["uid": "8"])
    time.now = start.advanced(by: .seconds(120))
    counted.warning("connection refused", metadata: ["uid": "9"])
    #expect(
      lines.text == """
        <4>connection refused uid=7
        <3>accept failed
        <4>connection refused more=2 uid=8
        <4>connection refused uid=9

        """)
  }
}
