import PhotoContract
import PhotoModel
import Varlink

// The calls that undo clients' changes.
extension LibraryService {
  func fetchUndoableChanges(_ call: VarlinkServiceCall) async throws {
    let origin = try await reads(call).parameters(call, FetchUndoableChangesRequest.self).origin
    let changes = try await library.undoableChanges(origin: origin)
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
