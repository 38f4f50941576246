import PhotoCatalog
import PhotoContract
import PhotoLive
import PhotoModel
import Varlink

// Calls for backups and checks of the catalog.
extension ManageService {
  func backUp(_ call: VarlinkServiceCall) async throws {
    let path = try call.shortParameters(BackupRequest.self).path
    let report = try await withBackups { try await $0.backup(to: path.map { try Self.absolute($0) }) }
    try await call.reply(BackupReply(backup: BackupFile(report)))
  }

  func listBackups(_ call: VarlinkServiceCall) async throws {
    // This opens each backup to count its assets.
    let reply = try await withBackups { backups in
      try await reads(call).run {
        try ReplyLimits.page(try backups.backups()[...]) { BackupListReply(backups: $0.map(BackupFile.init)) }.0
      }
    }
    try await call.reply(encoded: reply)
  }

  func restore(_ call: VarlinkServiceCall) async throws {
    let path = try Self.absolute(try call.shortParameters(RestoreRequest.self).path)
    let report = try await withBackups { try await $0.restore(from: path) }
    try await call.reply(
      RestoredBackup(
        path: report.path, assetCount: report.assetCount, userDataCount: report.userDataCount,
        previous: BackupFile(report.previous)))
  }

  func check(_ call: VarlinkServiceCall) async throws {
    let isDeep = try call.shortParameters(CheckRequest.self).deep ?? false
    try await call.reply(CatalogCheck(try await withBackups { try await $0.check(deep: isDeep) }))
  }

  private static func absolute(_ path: String) throws -> String {
    let bytes = FilePath.bytes(path)
    guard bytes.first == UInt8(ascii: "/"), !bytes.contains(0) else { throw VarlinkError.invalidParameter("path") }
    return path
  }

  /// Runs `body` if there is a library, and translates its errors to those of the interface.
  private func withBackups<Value>(_ body: (any LibraryBackups) async throws -> Value) async throws -> Value {
    guard let backups else {
      throw Self.unavailable("There is no library. Follow the warnings of `photoctl status`.")
    }
    do {
      return try await body(backups)
    } catch let error as BackupError {
      throw Self.contractError(error)
    } catch is WorkBudget.Spent {
      throw Self.unavailable("There are too many backups to list within two seconds. Move some of them away.")
    } catch  where Catalog.isDamage(error) {
      throw Self.unavailable(ContractError.damaged)
    }
  }

  private static func contractError(_ error: BackupError) -> VarlinkError {
    return switch error {
    case .notABackup(let path, let message):
      VarlinkError("org.photod.manage.NotABackup", PathError(path: path, message: message))
    case .cannotWrite(let path, let message):
      VarlinkError("org.photod.manage.CannotWrite", PathError(path: path, message: message))
    case .storageFull(let message): VarlinkError("org.photod.manage.StorageFull", MessageError(message: message))
    case .busy(let message): VarlinkError("org.photod.manage.Busy", MessageError(message: message))
    }
  }
}

extension CatalogCheck {
  fileprivate init(_ report: CheckReport) {
    self.init(
      findings: report.findings.map {
        Finding(severity: $0.severity.rawValue, what: $0.what, place: $0.place, remedy: $0.remedy)
      }, counts: report.counts)
  }
}

extension BackupFile {
  fileprivate init(_ report: BackupReport) {
    self.init(
      path: report.path, date: report.date, byteCount: report.byteCount, assetCount: report.assetCount,
      isKept: report.isKept)
  }
}
