import Glibc

/// How many tests run: all of them, or those for daily work.
package enum TestTier {
  /// Whether tests that compute for seconds run. `make test-quick` leaves them out.
  package static let isWhole = getenv("PHOTOD_TEST_QUICK") == nil

  /// How often a test repeats a step, or how large its input is: `count`, or `quick` if only quick tests run.
  package static func count(_ count: Int, quick: Int) -> Int { isWhole ? count : quick }

  /// The seeds of a random test: the numbers below `count`, or only the first of them if only quick tests run.
  package static func seeds(_ count: UInt64) -> [UInt64] { Array(0..<(isWhole ? count : min(1, count))) }
}
