import PhotoCatalog
import PhotoModel
import Varlink

// What keeps the library safe.
extension ManageService {
  private struct BackupFile: Encodable {
    let path: String
    let date: PhotoDate
    let byteCount: Int64
    let assetCount: Int?
    let isKept: Bool

    init(_ report: BackupReport) {
      path = report.path
      date = report.date
      byteCount = report.byteCount
      assetCount = report.assetCount
      isKept = report.isKept
    }
  }

  func backUp(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let path: String? }
    struct Reply: Encodable { let backup: BackupFile }
    let path = try call.parameters(Parameters.self).path
    let report = try await keeping { try await $0.backup(to: path.map { try Self.absolute($0) }) }
    try await call.reply(Reply(backup: BackupFile(report)))
  }

  func listBackups(_ call: VarlinkServiceCall) async throws {
    struct Reply: Encodable { let backups: [BackupFile] }
    let reports = try await keeping { try await $0.backups() }
    try await call.reply(Reply(backups: reports.map(BackupFile.init)))
  }

  func restore(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let path: String }
    struct Reply: Encodable {
      let path: String
      let assetCount: Int
      let userDataCount: Int
      let previous: BackupFile
    }
    let path = try Self.absolute(try call.parameters(Parameters.self).path)
    let report = try await keeping { try await $0.restore(from: path) }
    try await call.reply(
      Reply(
        path: report.path, assetCount: report.assetCount, userDataCount: report.userDataCount,
        previous: BackupFile(report.previous)))
  }

  func check(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let deep: Bool? }
    let isDeep = try call.parameters(Parameters.self).deep ?? false
    try await call.reply(try await keeping { try await $0.check(deep: isDeep) })
  }

  private static func absolute(_ path: String) throws -> String {
    guard FilePath.bytes(path).first == UInt8(ascii: "/") else { throw VarlinkError.invalidParameter("path") }
    return path
  }

  /// Does it where there is a library, with the errors of the interface.
  private func keeping<Value>(_ body: (any LibraryKeeping) async throws -> Value) async throws -> Value {
    guard let keeping else {
      throw Self.unavailable("There is no library to look after. Do what `photoctl status` says first.")
    }
    do {
      return try await body(keeping)
    } catch let error as KeepingError {
      throw Self.contractError(error)
    } catch  where Catalog.isDamage(error) {
      throw Self.unavailable(ContractError.damaged)
    }
  }

  private static func contractError(_ error: KeepingError) -> VarlinkError {
    struct File: Encodable { let path: String, message: String }
    struct Message: Encodable { let message: String }
    return switch error {
    case .notABackup(let path, let message):
      VarlinkError("org.photod.manage.NotABackup", File(path: path, message: message))
    case .cannotWrite(let path, let message):
      VarlinkError("org.photod.manage.CannotWrite", File(path: path, message: message))
    case .storageFull(let message): VarlinkError("org.photod.manage.StorageFull", Message(message: message))
    case .busy(let message): VarlinkError("org.photod.manage.Busy", Message(message: message))
    }
  }
}
