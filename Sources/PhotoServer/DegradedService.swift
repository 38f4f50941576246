import PhotoModel
import Varlink

/// `org.photod.library` without a library: it says why.
package final class DegradedService: VarlinkInterface {
  package let name = "org.photod.library"
  package let definition = contractText
  private let status: LibraryStatus

  package init(reasons: [String], version: String) {
    status = LibraryStatus(state: .degraded, library: "", token: "", version: version, warnings: reasons)
  }

  package func respond(to call: VarlinkServiceCall) async throws {
    struct Reply: Encodable { let status: LibraryStatus }
    // The same with every library.
    if call.method == "ListKeys" { return try await call.reply(ListKeysReply()) }
    guard call.method == "Status" else {
      throw ContractError.unavailable(status.warnings.joined(separator: " "))
    }
    guard call.wantsMore else {
      try await call.reply(Reply(status: status))
      return
    }
    try await call.replyContinuing(Reply(status: status))
    // Until the connection or the service ends: it cannot change.
    try await Task.sleep(for: .seconds(Int64.max / 2))
  }
}
