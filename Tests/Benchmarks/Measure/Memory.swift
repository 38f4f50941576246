import Glibc

/// The memory of this process that is in the machine's memory.
func residentBytes() throws -> Int { try statusBytes("VmRSS") }

/// Runs `body`, and returns by how many bytes the memory of this process was larger at its peak than before.
func peakGrowth(_ body: () throws -> Void) throws -> Int {
  // This sets the peak to the present memory (proc_pid_clear_refs(5)).
  let descriptor = open("/proc/self/clear_refs", O_WRONLY)
  defer { close(descriptor) }
  guard write(descriptor, "5", 1) == 1 else { throw MeasureError(message: "/proc/self/clear_refs: \(errno)") }
  let before = try residentBytes()
  try body()
  return try statusBytes("VmHWM") - before
}

/// A figure of proc_pid_status(5), which is in KiB.
private func statusBytes(_ name: String) throws -> Int {
  guard let file = fopen("/proc/self/status", "r") else { throw MeasureError(message: "/proc/self/status: \(errno)") }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  while let text = fgets(&line, 256, file) {
    let words = String(cString: text).split(whereSeparator: { $0 == ":" || $0.isWhitespace })
    if words.first.map(String.init) == name, words.count > 1, let kibibytes = Int(words[1]) { return kibibytes * 1024 }
  }
  throw MeasureError(message: "/proc/self/status has no \(name)")
}

struct MeasureError: Error { let message: String }
