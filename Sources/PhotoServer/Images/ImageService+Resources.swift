import PhotoContract
import PhotoImages
import PhotoModel
import Varlink

// The bytes of an asset's file.
extension ImageService {
  func readResource(_ call: VarlinkServiceCall) async throws {
    let parameters = try call.shortParameters(ReadResourceRequest.self)
    guard parameters.resource >= 0 else { throw VarlinkError.invalidParameter("resource") }
    guard parameters.offset ?? 0 >= 0 else { throw VarlinkError.invalidParameter("offset") }
    guard parameters.count ?? 0 >= 0 else { throw VarlinkError.invalidParameter("count") }
    let resource = try await fileThreads.run(for: call.peer) { [assets] in
      try RequestedResource(parameters, assets)
    }
    let threads = resource.isOnShare ? shareThreads : fileThreads
    let file = try await threads.run(for: call.peer) { [assets] in try ResourceFile(resource, assets) }
    var offset = parameters.offset ?? 0
    guard offset <= file.byteCount else { throw VarlinkError.invalidParameter("offset") }
    let end = offset + min(parameters.count ?? .max, file.byteCount - offset)
    connections.beginStream(call, .init(options: "asset \(parameters.assetID)"))
    while true {
      let start = offset
      let bytes = try await threads.run(for: call.peer) {
        try file.read(at: start, upTo: min(end, start + Int64(ImageLimits.pageBytes)))
      }
      offset += Int64(bytes.count)
      let page = ReadResourceReply(
        offset: start, data: bytes.base64, total: file.byteCount, revision: resource.revision)
      guard call.wantsMore, offset < end else { return try await call.reply(page) }
      try await sendPage(page, on: call)
    }
  }

  /// Sends a page that others follow. A reader that does not take it until ``pageDeadline`` loses the rest.
  private func sendPage(_ page: ReadResourceReply, on call: VarlinkServiceCall) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await call.replyContinuing(page) }
      group.addTask { [pageDeadline] in
        try await pageDeadline()
        throw ImageContractError.readExpired
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}
