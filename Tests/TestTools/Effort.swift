import Foundation

/// How much of the long tests runs: their number from the environment, else what `make test` has time for.
package func effort(_ variable: String, _ usual: Int) -> Int {
  ProcessInfo.processInfo.environment[variable].flatMap(Int.init) ?? usual
}
