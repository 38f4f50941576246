import PhotoClient
import PhotoModel

extension PhotoLibrary {
  /// Finds the photos of an export in this library.
  func match(_ photos: [ExportedPhoto], of exported: ExportedLibrary, _ status: LibraryStatus) async throws
    -> PhotoMatcher
  {
    let roots = LibraryFolders(status).roots
    let paths = Array(Set(photos.flatMap { PhotoMatcher.paths(of: $0, roots: roots) }))
    var idsByPath: [[UInt8]: AssetID] = [:]
    for (path, id) in zip(paths, try await findAssets(paths: paths.map { FilePath.text($0) })) { idsByPath[path] = id }
    // Files with the same content have the same size.
    let sizes = Set(photos.filter { $0.contentHash != nil }.map(\.byteCount)).sorted()
    var ids = Set(idsByPath.values)
    for start in stride(from: 0, to: sizes.count, by: Self.sizesPerFetch) {
      let some = sizes[start..<min(start + Self.sizesPerFetch, sizes.count)].map(String.init).joined(separator: ", ")
      ids.formUnion(try await allIDs(FetchOptions(predicate: "byteCount IN {\(some)}", includeHidden: true)))
    }
    var hashes: [AssetID: String] = [:]
    for data in try await userData(of: Array(ids)) { hashes[data.assetID] = data.contentHash }
    let candidates = try await assets(ids.sorted()).compactMap { asset in
      asset.resources.first.map { file in
        PhotoMatcher.Candidate(
          id: asset.id, path: FilePath.bytes(file.path), byteCount: file.byteCount, contentHash: hashes[asset.id])
      }
    }
    return PhotoMatcher(
      photos, roots: roots, isSameLibrary: exported.library == status.library, idsByPath: idsByPath,
      candidates: candidates, hashOf: { FileHash.ofFile($0.path, byteCount: $0.byteCount) })
  }

  /// Their text stays far below the largest predicate.
  private static var sizesPerFetch: Int { 1_000 }
}
