import PhotoModel

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
    var assetID: AssetID
    var want: Want
  }

  private struct Session: Sendable {
    var client: ImageClient
    var lastTurn: UInt64 = 0
    var members: [Want: Set<AssetID>] = [:]
    var memberCount = 0
    /// The members in their order. Some may have been removed since.
    var pending = MemberList()
    /// The members whose files are on shares and had no turn. Some may have been removed since.
    var postponed = MemberList()
    /// The members of both lists that were not removed.
    var isPending: Set<Member> = []

    /// - Parameter mayTakePostponed: whether a file on a share may have its turn.
    mutating func next(mayTakePostponed: Bool) -> Member? {
      while mayTakePostponed, let member = postponed.popFirst() {
        if isPending.remove(member) != nil { return member }
      }
      while let member = pending.popFirst() {
        if isPending.remove(member) != nil { return member }
      }
      return nil
    }
  }

  /// A list from whose front members are taken.
  private struct MemberList: Sendable {
    private var members: [Member] = []
    private var head = 0

    var count: Int { members.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ member: Member) { members.append(member) }

    mutating func popFirst() -> Member? {
      guard head < members.count else { return nil }
      defer {
        head += 1
        // So each member is moved once at most on average.
        if head > members.count / 2 {
          members.removeFirst(head)
          head = 0
        }
      }
      return members[head]
    }

    /// Removes what is not in the set, and members that come again.
    mutating func keep(_ kept: Set<Member>) {
      var seen: Set<Member> = []
      members = members[head...].filter { kept.contains($0) && seen.insert($0).inserted }
      head = 0
    }
  }

  private var sessions: [Int: Session] = [:]
  /// The members whose pictures are made for requests now. If all of those are cancelled, a member has its turn again.
  private var held: [PicturePlan.WorkKey: [(session: Int, member: Member)]] = [:]
  private var clientTurns: [ImageClient: UInt64] = [:]
  private var turn: UInt64 = 0
  private(set) var pendingCount = 0

  /// The pending members of the sessions that read their results.
  func pendingCount(isReading: (Int) -> Bool) -> Int {
    sessions.reduce(0) { $0 + (isReading($1.key) ? $1.value.isPending.count : 0) }
  }

  mutating func addSession(_ session: Int, client: ImageClient) { sessions[session] = Session(client: client) }

  mutating func removeSession(_ session: Int) {
    guard let removed = sessions.removeValue(forKey: session) else { return }
    pendingCount -= removed.isPending.count
    if !sessions.values.contains(where: { $0.client == removed.client }) { clientTurns[removed.client] = nil }
  }

  /// How many members a session would have after `add`.
  func count(of session: Int, adding assetIDs: [AssetID], _ want: Want) -> Int {
    guard let state = sessions[session] else { return 0 }
    let present = state.members[want] ?? []
    return state.memberCount + Set(assetIDs).subtracting(present).count
  }

  mutating func add(_ assetIDs: [AssetID], _ want: Want, to session: Int) {
    guard var state = sessions.removeValue(forKey: session) else { return }
    for id in assetIDs where state.members[want, default: []].insert(id).inserted {
      let member = Member(assetID: id, want: want)
      state.memberCount += 1
      state.pending.append(member)
      if state.isPending.insert(member).inserted { pendingCount += 1 }
    }
    sessions[session] = state
  }

  mutating func remove(_ assetIDs: [AssetID], _ want: Want, from session: Int) {
    guard var state = sessions.removeValue(forKey: session) else { return }
    for id in assetIDs where state.members[want]?.remove(id) != nil {
      state.memberCount -= 1
      if state.isPending.remove(Member(assetID: id, want: want)) != nil { pendingCount -= 1 }
    }
    if state.members[want]?.isEmpty == true { state.members[want] = nil }
    if state.pending.count + state.postponed.count > 2 * state.isPending.count + 64 {
      // A member that was removed and added again is in the lists twice. It stays once.
      state.postponed.keep(state.isPending)
      state.pending.keep(state.isPending)
    }
    sessions[session] = state
  }

  mutating func removeAll(from session: Int) {
    guard var state = sessions[session] else { return }
    pendingCount -= state.isPending.count
    state.members = [:]
    state.memberCount = 0
    state.pending = MemberList()
    state.postponed = MemberList()
    state.isPending = []
    sessions[session] = state
  }

  /// Takes the next member whose picture may be missing.
  ///
  /// - Parameters:
  ///   - mayTakePostponed: whether a file on a share may have its turn.
  ///   - isReading: whether a session reads its results.
  mutating func take(mayTakePostponed: Bool = true, isReading: (Int) -> Bool) -> (session: Int, member: Member)? {
    var exhausted: Set<Int> = []
    while true {
      let candidates = sessions.filter { id, session in
        !exhausted.contains(id) && !session.isPending.isEmpty
          && (!session.pending.isEmpty || mayTakePostponed && !session.postponed.isEmpty) && isReading(id)
      }
      let next = candidates.min {
        let (one, other) = ($0.value, $1.value)
        return (clientTurns[one.client] ?? 0, one.lastTurn, $0.key)
          < (clientTurns[other.client] ?? 0, other.lastTurn, $1.key)
      }
      guard let (id, _) = next, var state = sessions.removeValue(forKey: id) else { return nil }
      defer { sessions[id] = state }
      guard let member = state.next(mayTakePostponed: mayTakePostponed) else {
        exhausted.insert(id)
        continue
      }
      turn += 1
      state.lastTurn = turn
      clientTurns[state.client] = turn
      pendingCount -= 1
      return (id, member)
    }
  }

  /// Keeps a member that was taken until a file on a share may have its turn, unless it was removed since.
  mutating func postpone(_ member: Member, of session: Int) {
    guard sessions[session]?.members[member.want]?.contains(member.assetID) == true,
      sessions[session]?.isPending.insert(member).inserted == true
    else { return }
    sessions[session]?.postponed.append(member)
    pendingCount += 1
  }

  /// Keeps a member that was taken until this work ends, unless it was removed since. The caller must call
  /// ``endWork(_:)`` then.
  mutating func hold(_ member: Member, of session: Int, until work: PicturePlan.WorkKey) {
    guard sessions[session]?.members[member.want]?.contains(member.assetID) == true,
      sessions[session]?.isPending.insert(member).inserted == true
    else { return }
    held[work, default: []].append((session, member))
    pendingCount += 1
  }

  /// Gives the members that waited for this work their turn again.
  mutating func endWork(_ work: PicturePlan.WorkKey) {
    for (session, member) in held.removeValue(forKey: work) ?? []
    where sessions[session]?.isPending.contains(member) == true {
      sessions[session]?.pending.append(member)
    }
  }

  /// Whether a session has a member of this asset.
  func holds(_ assetID: AssetID) -> Bool {
    sessions.values.contains { $0.members.values.contains { $0.contains(assetID) } }
  }
}
