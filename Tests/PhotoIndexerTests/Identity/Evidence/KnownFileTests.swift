import PhotoModel
import PhotoTestSupport
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

/// The rules by which a file on the disk is a file of the catalog.
@Suite struct KnownFileTests {
  private static let row = FileRow(
    assetID: 1, directoryID: 1, name: Array("a.jpg".utf8), byteCount: 100, modificationTime: 10, changeTime: 11,
    inode: 7, birthTime: 5, readTime: 20)

  private func stat(
    inode: UInt64 = 7, birthTime: Int64 = 5, byteCount: Int64 = 100, modified: Int64 = 10, changed: Int64 = 11
  ) -> FileStat {
    FileStat(
      identity: FileIdentity(device: 1, inode: inode, birthTime: birthTime), byteCount: byteCount,
      modificationTime: modified, changeTime: changed)
  }

  @Test func renamedFileWasReadAsItIs() {
    #expect(Self.row.wasRead(as: stat(changed: 30)))
    #expect(!Self.row.isUnchanged(as: stat(changed: 30), inodesLast: true))
    #expect(!Self.row.wasRead(as: stat(byteCount: 101)) && !Self.row.wasRead(as: stat(modified: 12)))
  }

  @Test func fileThatWasNeverReadIsNotUnchanged() {
    var row = Self.row
    row.readTime = .unknown
    #expect(!row.wasRead(as: stat()) && !row.recorded.wasRead(as: stat()))
    #expect(Self.row.wasRead(as: stat()) && Self.row.recorded.wasRead(as: stat()))
    for inodesLast in [true, false] {
      #expect(!row.isUnchanged(as: stat(), inodesLast: inodesLast))
      #expect(Self.row.isUnchanged(as: stat(), inodesLast: inodesLast))
    }
  }

  @Test func changeTimeMayBeLostAndBirthTimeCountsIfInodesDoNotLast() {
    #expect(Self.row.isUnchanged(as: stat(inode: 8, changed: 10), inodesLast: false))
    #expect(!Self.row.isUnchanged(as: stat(inode: 8, changed: 10), inodesLast: true))
    #expect(!Self.row.isUnchanged(as: stat(inode: 8, changed: 30), inodesLast: false))
    #expect(!Self.row.isUnchanged(as: stat(inode: 8, birthTime: 6), inodesLast: false))
    #expect(Self.row.isUnchanged(as: stat(inode: 8, birthTime: 0), inodesLast: false))
  }

  @Test func fileInItsPlaceMayHaveAnotherInode() {
    for inodesLast in [true, false] {
      #expect(Self.row.isFile(inItsPlace: stat(inode: 8), inodesLast: inodesLast))
      #expect(!Self.row.isFile(inItsPlace: stat(inode: 8, changed: 30), inodesLast: inodesLast))
      #expect(Self.row.isFile(inItsPlace: stat(byteCount: 101), inodesLast: inodesLast))
    }
  }

  @Test func fileElsewhereNeedsMoreProofWithoutABirthTime() {
    #expect(Self.row.isFile(elsewhere: stat(byteCount: 101), inodesLast: true))
    #expect(!Self.row.isFile(elsewhere: stat(inode: 8), inodesLast: true))
    var row = Self.row
    row.birthTime = .unknown
    #expect(row.isFile(elsewhere: stat(birthTime: 0), inodesLast: true))
    #expect(!row.isFile(elsewhere: stat(birthTime: 0, byteCount: 101), inodesLast: true))
  }

  @Test func fileElsewhereNeedsMoreProofIfInodesDoNotLast() {
    #expect(Self.row.isFile(elsewhere: stat(changed: 30), inodesLast: false))
    #expect(!Self.row.isFile(elsewhere: stat(byteCount: 101), inodesLast: false))
    #expect(!Self.row.isFile(elsewhere: stat(modified: 12), inodesLast: false))
  }
}
