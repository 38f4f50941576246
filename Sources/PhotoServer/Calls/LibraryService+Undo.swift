import PhotoContract
import PhotoIndexer
import PhotoModel
import Varlink

// The calls that undo clients' changes.
extension LibraryService {
  func fetchUndoableChanges(_ call: VarlinkServiceCall) async throws {
    let reads = reads(call)
    let origin = try await reads.parameters(call, FetchUndoableChangesRequest.self).origin
    let undoable = try await libraryTurns.run(for: call.peer) { await library.undoableChanges(origin: origin) }
    let changes = try await reads.read(library.catalog) { try undoable.described(by: $0) }
    try await call.reply(UndoableChangesReply(changes: changes))
  }

  func undoChange(_ call: VarlinkServiceCall) async throws {
    let parameters = try await reads(call).parameters(call, UndoChangeRequest.self)
    try Self.check(clientName: parameters.clientName)
    if let name = parameters.clientName { connections.name(call, name) }
    let token = try await libraryTurns.run(for: call.peer) {
      try await library.undoChange(Int64(parameters.id), clientName: parameters.clientName)
    }
    try await call.reply(TokenReply(token: token.description))
  }
}
