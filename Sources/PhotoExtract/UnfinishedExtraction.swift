import Synchronization

/// A file that takes longer to read than its caller waits. Its result must be fetched with ``finish()``, on a thread that
/// may wait.
package final class UnfinishedExtraction: Sendable {
  private let extractor: Extractor
  private let source: MediaSource
  /// Whether the file has ended a process before.
  private let isSecondTry: Bool
  /// The process that has begun the file; nil if a process must still be taken.
  private let begun: Mutex<(worker: ExtractWorker, start: Extractor.FileStart)?>
  /// Whether a process has begun the file. It is busy until ``finish()`` is called.
  package let holdsProcess: Bool

  init(
    _ extractor: Extractor, _ source: MediaSource, begun: (ExtractWorker, Extractor.FileStart)? = nil,
    isSecondTry: Bool = false
  ) {
    self.extractor = extractor
    self.source = source
    self.isSecondTry = isSecondTry
    self.begun = Mutex(begun.map { (worker: $0.0, start: $0.1) })
    holdsProcess = begun != nil
  }

  deinit {
    if let (worker, _) = begun.withLock({ $0.take() }) { extractor.abandon(worker) }
  }

  /// Waits until the file is read, or is given up. It may be called once.
  ///
  /// - Returns: never ``Extraction/unfinished(_:)``.
  package func finish() -> Extraction {
    guard let (worker, start) = begun.withLock({ $0.take() }) else {
      return extractor.readToTheEnd(source, isSecondTry: isSecondTry)
    }
    return extractor.finish(source, by: worker, start: start, isSecondTry: isSecondTry)
  }
}
