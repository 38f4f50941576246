import PhotoContract
import PhotoModel

/// Reads the files of assets through photod, as PhotoKit's `PHAssetResourceManager`. A program that can't open the files
/// itself, such as a sandboxed one, gets their bytes too.
///
/// ```swift
/// let manager = AssetResourceManager(of: library)
/// if let resource = AssetResource.resources(for: asset).first {
///   try await manager.writeData(for: resource, toFile: "/tmp/" + resource.filename) { progress in
///     print("\(Int(progress.fractionCompleted * 100)) %")
///   }
/// }
/// ```
///
/// Every reading has its own connection. Cancelling the task ends it. Every call throws ``PhotoLibraryError`` or
/// `CancellationError`, and nothing else.
public final class AssetResourceManager: Sendable {
  private let library: PhotoLibrary

  /// Makes a manager for the files of a library. It holds no connection.
  public init(of library: PhotoLibrary) { self.library = library }

  /// The bytes of a resource in chunks of some hundred kilobytes, as photod sends them.
  ///
  /// They are the content that the asset had when it was fetched. If the file has another content by now, or gets it
  /// meanwhile, the sequence throws ``PhotoLibraryError/resourceChanged(message:)``: fetch the asset again. While photod is
  /// away, the sequence waits for it, and continues behind the bytes that came.
  ///
  /// - Complexity: O(n) for n bytes, of which one chunk is in memory.
  public func requestData(for resource: AssetResource) -> ResourceData {
    ResourceData(library: library, resource: resource)
  }

  /// All bytes of a resource.
  ///
  /// If its file has changed since the asset was fetched, the present content is returned. A second change during the
  /// call throws ``PhotoLibraryError/resourceChanged(message:)``.
  ///
  /// - Complexity: O(n) time and memory for n bytes.
  public func data(for resource: AssetResource) async throws -> [UInt8] {
    try await restartingOnce(resource) { resource in
      var bytes: [UInt8] = []
      for try await chunk in self.requestData(for: resource) {
        if bytes.isEmpty { bytes.reserveCapacity(Int(min(chunk.total, 1 << 30))) }
        bytes += chunk.bytes
      }
      return bytes
    }
  }

  /// Writes a resource to a file. The file appears when it is complete and on the disk; until then, its bytes are in a
  /// hidden file beside it. After an error, or if the task is cancelled, neither is left.
  ///
  /// If the resource's file has changed since the asset was fetched, the present content is written, from its beginning.
  /// A second change during the call throws ``PhotoLibraryError/resourceChanged(message:)``.
  ///
  /// - Parameters:
  ///   - path: the new file, absolute or relative to the current directory.
  ///   - overwriting: whether a file at the path is replaced. If not, it is an error.
  ///   - progress: is called after each chunk is written. It starts again if the reading does.
  /// - Throws: ``PhotoLibraryError/cannotWrite(path:message:)`` if the file can't be made.
  /// - Complexity: O(n) time for n bytes, with one chunk in memory.
  public func writeData(
    for resource: AssetResource, toFile path: String, overwriting: Bool = false,
    progress: @Sendable (ResourceProgress) -> Void = { _ in }
  ) async throws {
    try await restartingOnce(resource) { resource in
      let file = try await WrittenFile.create(path, overwriting: overwriting)
      do {
        for try await chunk in self.requestData(for: resource) {
          try await file.write(chunk.bytes)
          try Task.checkCancellation()
          progress(ResourceProgress(bytesWritten: chunk.bytesRead, total: chunk.total))
        }
        try Task.checkCancellation()
        try await file.finish()
      } catch {
        await file.discard()
        throw error
      }
    }
  }

  /// Runs the body, and once more with the present resource if its file has changed.
  private func restartingOnce<Output>(
    _ resource: AssetResource, _ body: (AssetResource) async throws -> Output
  ) async throws -> Output {
    do {
      return try await body(resource)
    } catch PhotoLibraryError.resourceChanged(let message) {
      // The asset may have other files by now, so the index alone does not say which one was meant.
      let asset = try await library.patiently { try await self.library.assets([resource.assetID]) }.first
      let present = asset.map(AssetResource.resources)?.first {
        $0.kind == resource.kind && $0.filename == resource.filename
      }
      guard let present else { throw PhotoLibraryError.resourceChanged(message: message) }
      return try await body(present)
    }
  }
}

/// How much of a resource was written.
public struct ResourceProgress: Hashable, Sendable {
  /// The number of bytes so far.
  public let bytesWritten: Int64
  /// The size of the file.
  public let total: Int64

  /// 0...1: the part of the file that was written so far.
  public var fractionCompleted: Double { total > 0 ? Double(bytesWritten) / Double(total) : 1 }
}
