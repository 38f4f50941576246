import PhotoClient
import PhotoModel

/// Gathers requests to calls of a size that photod takes. All calls of one command are undone together.
struct ChangeBatch {
  private let library: PhotoLibrary
  private var requests: [ChangeRequest] = []
  /// How many of the requests were carried out.
  private(set) var doneCount = 0
  /// The photos whose edits were left out, because they have left the library since they were found.
  private(set) var vanished: Set<AssetID> = []
  private var idCount = 0
  private var byteCount = 0

  /// A call may have 16 MiB.
  private static let mostBytes = 4 << 20

  init(_ library: PhotoLibrary) { self.library = library }

  /// - Parameters:
  ///   - idCount: how many ids of assets the request has, at most ``PhotoLibrary/mostPerChange``.
  ///   - byteCount: about how many bytes its texts have.
  mutating func add(_ request: ChangeRequest, idCount: Int, byteCount: Int = 256) async throws {
    if self.idCount + idCount > PhotoLibrary.mostPerChange || requests.count == PhotoLibrary.mostPerChange
      || self.byteCount + byteCount > Self.mostBytes
    {
      try await send()
    }
    requests.append(request)
    self.idCount += idCount
    self.byteCount += byteCount
  }

  /// Sends the requests that were gathered.
  mutating func send() async throws {
    while !requests.isEmpty {
      do {
        try await library.makeChanges(requests)
        doneCount += requests.count
        (requests, idCount, byteCount) = ([], 0, 0)
      } catch PhotoLibraryError.noSuchAsset(let ids) {
        // Nothing of the call was done, so the other edits would be lost.
        let edited = requests.compactMap(\.editAsset).flatMap(\.ids)
        let missing = Set(edited).subtracting(try await library.assets(edited).map(\.id))
        guard !missing.isEmpty else { throw PhotoLibraryError.noSuchAsset(ids: ids) }
        vanished.formUnion(missing)
        requests.removeAll { !missing.isDisjoint(with: $0.editAsset?.ids ?? []) }
      }
    }
  }
}
