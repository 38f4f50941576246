import ExtractRecords
import FileContent
import PhotoMetadata
import PhotoModel
import Testing

@testable import MetadataSamples

/// Files that become shorter, or change, between the reads of one file.
@Suite struct ShrinkingFileTests {
  private static let samples =
    FormatSamples.all + [
      ("a.mp4", MovieSamples.film), ("a.mp4", MovieSamples.fragmented()), ("a.png", PNGTests.texts),
      ("a.jpg", JPEGSegmentTests.everything),
    ]

  /// The file is as long as the caller says until `readCount` reads are done. Then it ends at half its length.
  private func facts(of content: [UInt8], name: String, shrinkingAfter readCount: Int) -> MediaFacts {
    var reads = 0
    let source = FileBytes.reader { buffer, offset in
      let end = reads < readCount ? content.count : content.count / 2
      reads += 1
      guard offset < end else { return 0 }
      let count = min(buffer.count, end - offset)
      content.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
      return count
    }
    var reader = MediaReader()
    return reader.facts(of: source, byteCount: Int64(content.count), name: name.utf8)
  }

  @Test func fileThatShrinksIsAnswered() {
    for (name, content) in Self.samples {
      // Metadata behind the first window takes further reads.
      for padded in [content, content + [UInt8](repeating: 0, count: 100_000)] {
        for readCount in 0..<8 {
          let facts = facts(of: padded, name: name, shrinkingAfter: readCount)
          #expect(facts.readError == nil, "\(name): the disk is not to blame")
        }
      }
    }
  }

  /// The size is that of fstat(2), and the file was cut to nothing before the first read.
  @Test func fileThatIsGoneBeforeItIsReadCountsAsEmpty() {
    var reader = MediaReader()
    let facts = reader.facts(of: .reader { _, _ in 0 }, byteCount: 5_000_000, name: "a.jpg".utf8)
    #expect(facts.failure == "the file is empty" && facts.readError == nil)
  }
}
