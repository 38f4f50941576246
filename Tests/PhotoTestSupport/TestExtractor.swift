import Logging
import PhotoExtract
import TestTools

/// Readers of metadata for tests: processes of the built photod-extract.
package enum TestExtractor {
  package static func make(
    readerCount: Int = 2, deadline: Duration = .seconds(5), logger: Logger = Logger(label: "test")
  ) -> Extractor {
    Extractor(
      executable: BuiltPrograms.path("photod-extract"), readerCount: readerCount, deadline: deadline, logger: logger)
  }
}
