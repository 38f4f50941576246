import Glibc

/// Makes a folder and those above it, which only this user can open.
/// - Returns: an errno, or 0 if the folder is there.
package func makePrivateFolders(_ path: String) -> Int32 {
  if mkdir(path, 0o700) == 0 || errno == EEXIST { return 0 }
  guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return errno }
  let errorNumber = makePrivateFolders(String(path[..<slash]))
  guard errorNumber == 0 else { return errorNumber }
  return mkdir(path, 0o700) == 0 || errno == EEXIST ? 0 : errno
}
