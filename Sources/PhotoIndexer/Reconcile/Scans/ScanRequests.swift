import PhotoModel

/// The callers' requests for scans that are not decided yet. It stores how a request differs from an ordinary scan of a
/// whole root: it may be for a part of the root, and a person may have confirmed that missing files are gone.
struct ScanRequests {
  /// The directory of each request for less than a root.
  private(set) var parts: [UInt32: DirectoryID] = [:]
  /// The requests with a person's confirmation that missing files are gone.
  private(set) var confirmed: Set<UInt32> = []

  /// - Parameters:
  ///   - part: the directory to be scanned, or nil for the whole root.
  ///   - isConfirmed: whether a person has confirmed that missing files are gone.
  mutating func add(_ request: UInt32, partOf part: DirectoryID?, isConfirmed: Bool) {
    if let part { parts[request] = part }
    if isConfirmed { confirmed.insert(request) }
  }

  func part(of request: UInt32) -> DirectoryID? { parts[request] }

  func isConfirmed(_ request: UInt32) -> Bool { confirmed.contains(request) }

  /// Removes a request that is decided, or that is made again under another number.
  @discardableResult
  mutating func remove(_ request: UInt32) -> (part: DirectoryID?, isConfirmed: Bool) {
    (parts.removeValue(forKey: request), confirmed.remove(request) != nil)
  }
}
