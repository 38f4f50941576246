/// The pictures that sessions want to be made before they are asked for.
///
/// Each session has a set, which is not counted: a member that is added twice is there once. Turns are those of
/// ``ImageQueue``.
struct CachingSets: Sendable {
  /// The frames of a session's members are few, so each frame has the ids of its assets.
  struct Want: Hashable, Sendable {
    var frame: ImageFrame
    var contentMode: ImageOptions.ContentMode
  }

  struct Member: Hashable, Sendable {
    var assetID: Int64
    var want: Want
  }

  private struct Session: Sendable {
    var client: ImageClient
    var lastTurn: UInt64 = 0
    var members: [Want: Set<Int64>] = [:]
    var memberCount = 0
    /// The members in their order, from `head` on. Some may have been removed since.
    var pending: [Member] = []
    var head = 0
    /// The members that no thread has taken.
    var isPending: Set<Member> = []
  }

  private var sessions: [Int: Session] = [:]
  private var clientTurns: [ImageClient: UInt64] = [:]
  private var turn: UInt64 = 0
  private(set) var pendingCount = 0

  mutating func addSession(_ session: Int, client: ImageClient) { sessions[session] = Session(client: client) }

  mutating func removeSession(_ session: Int) {
    guard let removed = sessions.removeValue(forKey: session) else { return }
    pendingCount -= removed.isPending.count
    if !sessions.values.contains(where: { $0.client == removed.client }) { clientTurns[removed.client] = nil }
  }

  /// How many members a session would have after `add`.
  func count(of session: Int, adding assetIDs: [Int64], _ want: Want) -> Int {
    guard let state = sessions[session] else { return 0 }
    let present = state.members[want] ?? []
    return state.memberCount + Set(assetIDs).subtracting(present).count
  }

  mutating func add(_ assetIDs: [Int64], _ want: Want, to session: Int) {
    guard var state = sessions.removeValue(forKey: session) else { return }
    for id in assetIDs where state.members[want, default: []].insert(id).inserted {
      let member = Member(assetID: id, want: want)
      state.memberCount += 1
      state.pending.append(member)
      if state.isPending.insert(member).inserted { pendingCount += 1 }
    }
    sessions[session] = state
  }

  mutating func remove(_ assetIDs: [Int64], _ want: Want, from session: Int) {
    guard var state = sessions.removeValue(forKey: session) else { return }
    for id in assetIDs where state.members[want]?.remove(id) != nil {
      state.memberCount -= 1
      if state.isPending.remove(Member(assetID: id, want: want)) != nil { pendingCount -= 1 }
    }
    if state.members[want]?.isEmpty == true { state.members[want] = nil }
    if state.pending.count > 2 * state.isPending.count + 64 {
      // A member that was removed and added again is in the list twice. It stays once.
      var seen: Set<Member> = []
      let isPending = state.isPending
      state.pending = state.pending[state.head...].filter { isPending.contains($0) && seen.insert($0).inserted }
      state.head = 0
    }
    sessions[session] = state
  }

  mutating func removeAll(from session: Int) {
    guard var state = sessions[session] else { return }
    pendingCount -= state.isPending.count
    state.members = [:]
    state.memberCount = 0
    state.pending = []
    state.head = 0
    state.isPending = []
    sessions[session] = state
  }

  /// Takes the next member whose picture may be missing.
  mutating func take(isReading: (Int) -> Bool) -> (session: Int, member: Member)? {
    let candidates = sessions.filter { !$0.value.isPending.isEmpty && isReading($0.key) }
    let next = candidates.min {
      let (one, other) = ($0.value, $1.value)
      return (clientTurns[one.client] ?? 0, one.lastTurn, $0.key)
        < (clientTurns[other.client] ?? 0, other.lastTurn, $1.key)
    }
    guard let (id, _) = next, var state = sessions.removeValue(forKey: id) else { return nil }
    defer { sessions[id] = state }
    if state.head > 1000, state.head > state.pending.count / 2 {
      state.pending.removeFirst(state.head)
      state.head = 0
    }
    turn += 1
    state.lastTurn = turn
    clientTurns[state.client] = turn
    while state.head < state.pending.count {
      let member = state.pending[state.head]
      state.head += 1
      if state.isPending.remove(member) != nil {
        pendingCount -= 1
        if state.isPending.isEmpty { (state.pending, state.head) = ([], 0) }
        return (id, member)
      }
    }
    return nil
  }

  /// Puts a member that was taken at the end of its session's members, unless it was removed since.
  mutating func putBack(_ member: Member, to session: Int) {
    guard sessions[session]?.members[member.want]?.contains(member.assetID) == true,
      sessions[session]?.isPending.insert(member).inserted == true
    else { return }
    sessions[session]?.pending.append(member)
    pendingCount += 1
  }

  /// Whether a session has a member of this asset.
  func holds(_ assetID: Int64) -> Bool {
    sessions.values.contains { $0.members.values.contains { $0.contains(assetID) } }
  }
}
