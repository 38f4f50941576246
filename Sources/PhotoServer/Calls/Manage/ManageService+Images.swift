import Dispatch
import PhotoContract
import PhotoImages
import Varlink

// The call for the kept pictures.
extension ManageService {
  /// Removing thousands of files blocks, so it has a thread of its own. The engine lets in one caller at a time.
  private static let queue = DispatchQueue(label: "photod.pictures.clear")

  func clearImages(_ call: VarlinkServiceCall) async throws {
    guard let engine else {
      throw Self.unavailable("There is no library, so no pictures are kept. `photoctl status` has the reason.")
    }
    let freed = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int64, any Error>) in
      Self.queue.async {
        continuation.resume(
          with: Result {
            let before = engine.statistics().bytes
            try engine.clear()
            return max(0, before - engine.statistics().bytes)
          })
      }
    }
    try await call.reply(ClearedImages(byteCount: freed))
  }
}
