// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemErrors

/// An errno, with the action that failed.
package struct WorkerError: Error, Sendable, CustomStringConvertible {
  package var description: String
  /// The errno; EAGAIN if the system gave none.
  package var errorNumber: Int32 = EAGAIN

  package init(_ what: String, errorNumber: Int32) {
    description = "\(what): \(errorText(errorNumber))"
    self.errorNumber = errorNumber
  }

  package init(_ what: String) { description = what }
}
