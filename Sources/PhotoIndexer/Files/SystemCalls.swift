import Glibc

/// Calls `body` with the path as a C string.
func withCPath<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
  withUnsafeTemporaryAllocation(byteCount: path.count + 1, alignment: 1) { bytes in
    bytes.copyBytes(from: path)
    bytes[path.count] = 0
    return body(bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
  }
}
