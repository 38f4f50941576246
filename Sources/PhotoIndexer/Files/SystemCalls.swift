import Glibc

/// Calls `body` with the path as a C string.
func withCPath<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
  (path + [0]).withUnsafeBufferPointer { bytes in
    bytes.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
  }
}

/// The system's message for an error number.
func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
