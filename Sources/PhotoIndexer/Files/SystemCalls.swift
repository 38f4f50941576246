import Glibc

/// Calls `body` with the path as a C string.
func withCPath<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
  (path + [0]).withUnsafeBufferPointer { bytes in
    bytes.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
  }
}
