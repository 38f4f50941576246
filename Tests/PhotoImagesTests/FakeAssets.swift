import Dispatch
import Foundation
import Glibc
import PhotoModel
import Synchronization
import WatchRecords

@testable import PhotoImages

/// A library of photos without a catalog.
final class FakeAssets: ImageAssets {
  private struct State {
    var assets: [AssetID: ImageAsset] = [:]
    var openErrors: [AssetID: ImageFileError] = [:]
    /// The assets whose files differ from the catalog, or can't be compared.
    var fileStates: [AssetID: ImageFileState] = [:]
    var onShare: Set<AssetID> = []
    var isReadable = true
    /// It is called before an asset is looked up.
    var onLookup: (@Sendable (AssetID) -> Void)?
    /// Not nil while the share does not answer: the threads that wait for it.
    var waiting: [DispatchSemaphore]?
    var waitingCount: Int { waiting?.count ?? 0 }
    /// The names of the files on the share that were copied.
    var copied: [String] = []
    var openCopyCount = 0

    /// The asset of a file. The name says it, unless a test has renamed the file.
    func owner(of file: ImageFile) -> ImageAsset? {
      let name = String(decoding: file.name.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
      if let named = AssetID(name).flatMap({ assets[$0] }), named.files.contains(file) { return named }
      return assets.values.first { $0.files.contains(file) }
    }
  }

  private let state = Mutex(State())

  /// Adds photos with one file each, `1.jpg` and so on, in revision `r1`.
  func add(_ ids: some Sequence<AssetID>, pixelSize: ImageFrame? = nil) {
    state.withLock { state in
      for id in ids {
        let file = ImageFile(
          index: 0, path: Array("/photos/\(id).jpg".utf8), contentType: "image/jpeg", byteCount: 5,
          modified: FileTime(nanoseconds: 1_700_000_000_900_000_000), kind: .photo)
        state.assets[id] = ImageAsset(
          id: id, revision: "r1", isAvailable: true, files: [file], pixelSize: pixelSize)
      }
    }
  }

  func change(_ id: AssetID, _ body: (inout ImageAsset) -> Void) {
    state.withLock { state in
      guard var asset = state.assets[id] else { return }
      body(&asset)
      state.assets[id] = asset
    }
  }

  func remove(_ id: AssetID) { state.withLock { $0.assets[id] = nil } }

  func failOpening(_ id: AssetID, _ error: ImageFileError?) { state.withLock { $0.openErrors[id] = error } }

  /// Changes the file of an asset, or lets the catalog know the file as it is.
  func setFileChanged(_ id: AssetID, _ isChanged: Bool) {
    setFileState(id, isChanged ? .changed : .unchanged)
  }

  func setFileState(_ id: AssetID, _ fileState: ImageFileState) { state.withLock { $0.fileStates[id] = fileState } }

  /// Moves the files of assets to a share.
  func moveToShare(_ ids: some Sequence<AssetID>) { state.withLock { $0.onShare.formUnion(ids) } }

  /// Lets each file of the share block until ``answerFromShare()``.
  func blockShare() { state.withLock { $0.waiting = [] } }

  func answerFromShare() {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      return state.waiting ?? []
    }
    for semaphore in waiting { semaphore.signal() }
  }

  /// The names of the files on the share that were copied, in their order.
  var copied: [String] { state.withLock { $0.copied } }

  /// How many copies are open.
  var openCopyCount: Int { state.withLock { $0.openCopyCount } }

  /// How many threads wait for the share.
  var blockedCount: Int { state.withLock { $0.waitingCount } }

  func isOnShare(_ file: ImageFile) -> Bool {
    state.withLock { state in state.owner(of: file).map { state.onShare.contains($0.id) } ?? false }
  }

  /// Lets the catalog be unreadable, or readable again.
  func setReadable(_ isReadable: Bool) { state.withLock { $0.isReadable = isReadable } }

  func setOnLookup(_ onLookup: (@Sendable (AssetID) -> Void)?) { state.withLock { $0.onLookup = onLookup } }

  func imageAsset(_ id: AssetID) throws -> ImageAsset? {
    state.withLock { $0.onLookup }?(id)
    return try state.withLock { state in
      guard state.isReadable else { throw POSIXError(.EIO) }
      return state.assets[id]
    }
  }

  func state(of file: ImageFile, _ open: OpenImageFile) -> ImageFileState { state(of: file) }

  private func state(of file: ImageFile) -> ImageFileState {
    state.withLock { state in state.owner(of: file).flatMap { state.fileStates[$0.id] } ?? .unchanged }
  }

  func missingAssets(_ ids: Set<AssetID>) throws -> Set<AssetID> {
    try state.withLock { state in
      guard state.isReadable else { throw POSIXError(.EIO) }
      return ids.filter { state.assets[$0] == nil }
    }
  }

  func open(_ file: ImageFile, isWanted: @Sendable () -> Bool) throws(ImageFileError) -> OpenImageFile {
    let error = state.withLock { state in state.owner(of: file).flatMap { state.openErrors[$0.id] } }
    if let error { throw error }
    guard state(of: file) != .changed else { throw .changed }
    let isCopy = isOnShare(file)
    if isCopy {
      let semaphore = DispatchSemaphore(value: 0)
      let isBlocked = state.withLock { state in
        state.waiting?.append(semaphore)
        return state.waiting != nil
      }
      if isBlocked { semaphore.wait() }
      guard isWanted() else { throw .unwanted }
      state.withLock { state in
        state.copied.append(String(decoding: file.name, as: UTF8.self))
        state.openCopyCount += 1
      }
    }
    let descriptor = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .readFailed(errno) }
    guard isCopy else { return OpenImageFile(descriptor) }
    return OpenImageFile(descriptor, copiedBytes: file.byteCount) { [weak self] in
      self?.state.withLock { $0.openCopyCount -= 1 }
    }
  }
}
