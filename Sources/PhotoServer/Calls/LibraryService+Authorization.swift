import PhotoContract
import Varlink

// The calls for access. The socket belongs to the user and only the user's programs can open it, so each of them has all
// access.
extension LibraryService {
  func authorizationStatus(_ call: VarlinkServiceCall) async throws {
    let process = ProcessName(of: call.peer.pid)
    try await call.reply(
      Authorization(status: .authorized, client: process.program ?? process.command ?? "process \(call.peer.pid)"))
  }

  func requestAuthorization(_ call: VarlinkServiceCall) async throws {
    let request = try await reads(call).parameters(call, AuthorizationRequest.self)
    guard request.accessLevel != .unknown else { throw VarlinkError.invalidParameter("accessLevel") }
    try await call.reply(AuthorizationReply(status: .authorized))
  }
}
