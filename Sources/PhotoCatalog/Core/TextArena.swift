/// Memory for the texts of one statement with many rows.
///
/// SQLite otherwise allocates memory for each bound text, and frees it when another one is bound. For the ten texts of
/// a new photo, that would be a tenth of the cost of its insertion.
final class TextArena {
  /// The texts of 64 photos seldom take a third of this. Further texts are copied by SQLite.
  private static let capacity = 65_536

  private let memory = UnsafeMutableRawPointer.allocate(byteCount: TextArena.capacity, alignment: 1)
  private var used = 0

  deinit { memory.deallocate() }

  /// Copies bytes.
  ///
  /// - Returns: the copy, which is valid until ``removeAll()``; nil if there is no room.
  func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard bytes.count <= Self.capacity - used else { return nil }
    let copy = memory + used
    if let source = bytes.baseAddress { copy.copyMemory(from: source, byteCount: bytes.count) }
    used += bytes.count
    return UnsafeRawPointer(copy)
  }

  /// No statement that uses the texts may run afterwards until all its values are bound anew.
  func removeAll() { used = 0 }
}
