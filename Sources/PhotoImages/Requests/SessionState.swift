import PhotoContract
import PhotoModel

/// The requests and waiting results of one session. The engine's lock protects it.
struct SessionState: Sendable {
  /// With this many bytes of results, paths and messages included, a reply stays below 1 MiB.
  static let mostBytesOfReply = 640 << 10
  /// The bytes of a result as it is sent, without its picture.
  static let resultOverhead = 512

  struct OpenRequest: Sendable {
    var id: Int64
    var assetID: AssetID
    var options: ImageOptions
    /// The size of a picture that was too small, because the aspect ratio was not known.
    var pixelSize: ImageFrame?
  }

  struct WaitingResult: Sendable {
    var sequence: Int64
    var result: PictureResult
    /// The kept picture that the result names. It is pinned.
    var found: PictureStore.Found?
    /// Whether the picture was decoded for this result.
    var isFresh: Bool
    var byteCount: Int
  }

  struct StoredImage: Sendable {
    var found: PictureStore.Found
    var end: UInt32
  }

  let session: ImageSession
  let client: ImageClient
  let wantsData: Bool
  /// Whether the session belongs to one call of `MakeImages`: it is not counted, its ids need not ascend, and requests
  /// get only their final results.
  let isPrivate: Bool
  /// The open requests by their sequence numbers: those whose final result was not sent yet.
  var requests: [Int64: OpenRequest] = [:]
  var sequences: [Int64: Int64] = [:]
  var nextSequence: Int64 = 0
  var highestID: Int64?
  var results: [WaitingResult] = []
  var waitingBytes = 0
  /// When results began to wait, or when some were last taken, by the clock of the store.
  private var waitingSince: UInt32 = 0
  /// The results of work that runs.
  var reservedCount = 0
  var reservedBytes = 0
  var images: [String: StoredImage] = [:]
  var notify: (@Sendable () -> Void)?

  init(session: ImageSession, client: ImageClient, wantsData: Bool, isPrivate: Bool) {
    self.session = session
    self.client = client
    self.wantsData = wantsData
    self.isPrivate = isPrivate
  }

  /// The most bytes of one result that work of this lane may have.
  func reservation(_ lane: ImageLane) -> Int {
    wantsData || lane == .immediate ? Self.encodedBytes(ImageLimits.maximumInlineBytes) : Self.resultOverhead
  }

  /// Whether the client takes its results. The clock has whole seconds, so a client that stops counts as reading for one to
  /// two seconds more.
  func isReading(now: UInt32) -> Bool { results.isEmpty || now <= waitingSince + 1 }

  /// Adds a result for the client.
  /// - Returns: whether it is the only one, so that the client must be notified.
  mutating func append(_ result: WaitingResult, now: UInt32) -> Bool {
    let isFirst = results.isEmpty
    if isFirst { waitingSince = now }
    results.append(result)
    waitingBytes += result.byteCount
    return isFirst
  }

  /// The size of a result as it is sent.
  static func encodedBytes(_ dataBytes: Int) -> Int { (dataBytes + 2) / 3 * 4 + resultOverhead }

  func hasRoom(_ lane: ImageLane) -> Bool {
    results.count + reservedCount < ImageLimits.maximumWaitingResults
      && waitingBytes + reservedBytes + reservation(lane) <= ImageLimits.maximumWaitingBytes
  }

  mutating func reserve(_ lane: ImageLane) -> Bool {
    guard hasRoom(lane) else { return false }
    reservedCount += 1
    reservedBytes += reservation(lane)
    return true
  }

  mutating func release(_ lane: ImageLane) {
    reservedCount -= 1
    reservedBytes -= reservation(lane)
  }

  /// Takes results for one reply.
  mutating func takeResults(now: UInt32) -> [WaitingResult] {
    waitingSince = now
    var bytes = 0
    var count = 0
    for result in results.prefix(ImageLimits.resultsPerReply) {
      guard count == 0 || bytes + result.byteCount <= Self.mostBytesOfReply else { break }
      bytes += result.byteCount
      count += 1
    }
    let taken = Array(results[..<count])
    results.removeFirst(count)
    waitingBytes -= bytes
    for result in taken where result.result.isFinal { close(result.sequence) }
    return taken
  }

  /// Forgets a request.
  mutating func close(_ sequence: Int64) {
    if let request = requests.removeValue(forKey: sequence) { sequences[request.id] = nil }
  }
}

/// The two kinds of work. Pictures that are there already never wait behind a decode.
enum ImageLane: Sendable {
  /// Kept pictures, and those that a camera embedded.
  case immediate
  case rendering
}
