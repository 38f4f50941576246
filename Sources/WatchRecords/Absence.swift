// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

import Glibc

/// Whether the error means that nothing has this name, rather than that it can't be seen.
public func meansAbsent(_ errorNumber: Int32) -> Bool {
  errorNumber == ENOENT || errorNumber == ENOTDIR || errorNumber == ELOOP
}
