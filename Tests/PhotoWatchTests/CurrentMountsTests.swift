// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestTools
import Testing

@testable import PhotoWatch

@Suite struct CurrentMountsTests {
  @Test func tableThatCouldNotBeOpenedIsReadLater() throws {
    let folder = try TemporaryFolder("mounts")
    let mounts = CurrentMounts(file: folder.path + "/table")
    #expect(mounts.table == nil)
    let table = open(folder.path + "/table", O_WRONLY | O_CREAT, 0o644)
    let text = Array("1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / /n rw - nfs b rw\n".utf8)
    #expect(write(table, text, text.count) == text.count)
    close(table)
    #expect(mounts.table?.isOnShare("/n/x".utf8) == true)
    #expect(CurrentMounts.shared.table?.mount(of: "/".utf8) != nil)
  }
}
