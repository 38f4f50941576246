import Foundation
import Glibc

/// Writes a program that a test starts.
///
/// The test program itself never has the file open for writing. Another thread may start a process at that moment, which
/// has the descriptor, too, until it becomes another program. Until then, the file can't be started (`ETXTBSY`).
package func installProgram(_ text: String, at path: String) throws {
  let source = path + ".txt"
  let descriptor = open(source, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o755)
  guard descriptor >= 0 else { throw SystemCallError("open \(source)") }
  let bytes = Array(text.utf8)
  let count = write(descriptor, bytes, bytes.count)
  close(descriptor)
  guard count == bytes.count else { throw SystemCallError("write \(source)") }
  let copy = TestProcess()
  copy.executableURL = URL(fileURLWithPath: "/bin/cp")
  copy.arguments = [source, path]
  try copy.run()
  copy.waitUntilExit()
  try require(copy.terminationStatus == 0, "cp \(source) failed")
  unlink(source)
}
