import Synchronization

/// A file that takes longer to read than its caller waits. Its result must be fetched with ``finish()``, on a thread that
/// may wait.
package final class UnfinishedExtraction: Sendable {
  private let extractor: Extractor
  private let source: MediaSource
  /// The process that has begun the file. nil if all processes were busy.
  private let begun: Mutex<(worker: ExtractWorker, start: Extractor.FileStart)?>

  init(_ extractor: Extractor, _ source: MediaSource, _ begun: (ExtractWorker, Extractor.FileStart)?) {
    self.extractor = extractor
    self.source = source
    self.begun = Mutex(begun.map { (worker: $0.0, start: $0.1) })
  }

  deinit {
    if let (worker, _) = begun.withLock({ $0.take() }) { extractor.giveUp(worker) }
  }

  /// Waits until the file is read, or is given up. It may be called once.
  ///
  /// - Returns: never ``Extraction/unfinished(_:)``.
  package func finish() -> Extraction {
    guard let (worker, start) = begun.withLock({ $0.take() }) else { return extractor.readToTheEnd(source) }
    return extractor.finish(source, by: worker, start: start, isSecondTry: false)
  }
}
