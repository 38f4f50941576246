import PhotoTestSupport

@testable import PhotoIndexer

extension DiskFiles {
  /// The files of the disk, with readers of its own.
  convenience init() { self.init(extractor: TestExtractor.make(), lateReads: LateReads()) }
}
