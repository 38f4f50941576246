import GRDB
import Glibc
import PhotoModel

/// The reason why the catalog can't be written. The remedy depends on it.
package enum WriteFailure: Hashable, Sendable {
  /// The disk is full, or the quota of the user is.
  case noRoom
  /// The file or its folder is not writable, or its file system is read-only.
  case notWritable
  /// Another program has locked the catalog.
  case locked
  /// The disk fails, or its data is damaged.
  case disk
  /// The message of the error has the remedy.
  case explained
  /// No state of the system explains the error.
  case bug

  package init(_ error: any Error) {
    switch error {
    case _ where Catalog.isFull(error): self = .noRoom
    case is PhotoError: self = .explained
    case let error as PrivateFileError: self = Self.kind(of: error.code)
    case let error as DatabaseError: self = Self.kind(of: error)
    default: self = .bug
    }
  }

  private static func kind(of error: DatabaseError) -> WriteFailure {
    switch error.resultCode {
    case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN: .notWritable
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .locked
    case .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_NOTADB: .disk
    default: .bug
    }
  }

  private static func kind(of errorNumber: Int32) -> WriteFailure {
    switch errorNumber {
    case EACCES, EPERM, EROFS, ENOENT, ENOTDIR: .notWritable
    case EIO, ENXIO, ENODEV, EREMOTEIO, ESTALE, ETIMEDOUT, EUCLEAN: .disk
    default: .bug
    }
  }
}
