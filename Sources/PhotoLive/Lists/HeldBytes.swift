import PhotoModel

// Estimates of the memory that values take, for ``ClientLists``.

extension String {
  /// About how much memory the text takes beside the value itself, which contains texts of up to 15 bytes.
  package var heapByteCount: Int { utf8.count > 15 ? 32 + utf8.count : 0 }
}

extension [AssetCollection] {
  /// About how much memory the collections take, in bytes.
  package var byteCount: Int {
    reduce(count * MemoryLayout<AssetCollection>.stride) {
      $0 + $1.title.heapByteCount + ($1.path?.heapByteCount ?? 0)
    }
  }
}
