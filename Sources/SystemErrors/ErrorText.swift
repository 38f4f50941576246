// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system's message for an error number.
package func errorText(_ errorNumber: Int32) -> String { String(cString: strerror(errorNumber)) }
