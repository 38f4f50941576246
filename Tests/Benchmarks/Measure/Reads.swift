import FileContent
import Foundation
import Glibc
import PhotoMetadata
import PhotoModel

/// How much of each file of a folder is read, and in how many calls, by the reader of photod-extract.
///
/// The calls are those of pread(2). Beside them, each file costs photod an openat, two fstat and a close; photod-extract a
/// close; and both together a sendmsg, a send and two receiving calls for up to 16 files.
func readFigures(folder: String) throws -> String {
  var (calls, bytes): ([Int], [Int]) = ([], [])
  var reader = MediaReader()
  guard let files = FileManager.default.enumerator(atPath: folder) else { throw POSIXError(.ENOENT) }
  for case let path as String in files {
    let name = Array(URL(fileURLWithPath: path).lastPathComponent.utf8)
    guard MediaFormat.promised(byName: name) != nil else { continue }
    let descriptor = open("\(folder)/\(path)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(.EIO) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
    var (callCount, byteCount) = (0, 0)
    let source = FileBytes.reader { buffer, offset in
      let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
      callCount += 1
      byteCount += max(0, count)
      return count
    }
    _ = reader.facts(of: source, byteCount: Int64(status.st_size), name: name)
    calls.append(callCount)
    bytes.append(byteCount)
  }
  return "{\"calls\": \(calls), \"bytes\": \(bytes)}"
}
