import PhotoModel
import TestTools
import Testing

@testable import PhotoImages

/// The queue beside a simple model, with random operations.
struct ImageQueueTests {
  /// A plain model of the queue.
  private struct Model {
    var clients: [Int: String] = [:]
    var waiting: [ImageTicket: Int] = [:]
    var running: [Int: Set<ImageTicket>] = [:]
    var blocked: Set<Int> = []
  }

  @Test(arguments: 0..<TestTier.count(60, quick: 10)) func queueFollowsItsRules(_ seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var queue = ImageQueue<Int>()
    var model = Model()
    var sequence: Int64 = 0
    var next = 0
    for _ in 0..<2000 {
      switch Int.random(in: 0..<100, using: &random) {
      case ..<4 where model.clients.count < 8:
        next += 1
        let client = ["a", "b", "c"].randomElement(using: &random)!
        model.clients[next] = client
        queue.addSession(next, client: ImageClient(process: client))
      case ..<6:
        guard let session = model.clients.keys.sorted().randomElement(using: &random) else { continue }
        queue.removeSession(session)
        model.clients[session] = nil
        model.waiting = model.waiting.filter { $0.key.session != session }
        for key in model.running.keys { model.running[key] = model.running[key]!.filter { $0.session != session } }
      case ..<45:
        guard let session = model.clients.keys.sorted().randomElement(using: &random) else { continue }
        sequence += 1
        let ticket = ImageTicket(session: session, sequence: sequence)
        let key = Int.random(in: 0..<12, using: &random)
        queue.add(ticket, key) { !model.blocked.contains($0) }
        if model.running[key] != nil, !model.blocked.contains(session) {
          model.running[key]!.insert(ticket)
        } else {
          model.waiting[ticket] = key
        }
      case ..<55: cancel(&queue, &model, &random)
      case ..<60:
        guard let session = model.clients.keys.sorted().randomElement(using: &random) else { continue }
        if model.blocked.remove(session) == nil { model.blocked.insert(session) }
      case ..<62:
        let key = Int.random(in: 0..<12, using: &random)
        let isFree = model.running[key] == nil
        #expect(queue.begin(key) == isFree)
        if isFree { model.running[key] = [] }
      case ..<80: take(&queue, &model)
      default:
        guard let key = model.running.keys.sorted().randomElement(using: &random) else { continue }
        #expect(Set(queue.finish(key)) == model.running[key])
        model.running[key] = nil
      }
      #expect(queue.waitingCount == model.waiting.count)
      #expect(queue.runningCount == model.running.count)
      for key in 0..<12 { #expect(queue.hasWaiters(key) == (model.running[key]?.isEmpty == false)) }
    }
  }

  private func cancel(_ queue: inout ImageQueue<Int>, _ model: inout Model, _ random: inout SeededGenerator) {
    let all = Array(model.waiting.keys) + model.running.values.joined()
    guard
      let ticket = all.sorted(by: { ($0.sequence, $0.session) < ($1.sequence, $1.session) })
        .randomElement(using: &random)
    else { return }
    if model.waiting.removeValue(forKey: ticket) != nil {
      #expect(queue.cancel(ticket) == .waiting)
    } else {
      for key in model.running.keys { model.running[key]!.remove(ticket) }
      #expect(queue.cancel(ticket) == .running)
    }
    #expect(queue.cancel(ticket) == .unknown, "it is cancelled once")
  }

  private func take(_ queue: inout ImageQueue<Int>, _ model: inout Model) {
    let blocked = model.blocked
    let job = queue.take { !blocked.contains($0) }
    // Requests whose key runs join it when their turn comes, so the model moves those that did.
    for (ticket, key) in model.waiting where model.running[key] != nil && !queue.isWaiting(ticket) {
      #expect(!blocked.contains(ticket.session))
      model.running[key]!.insert(ticket)
      model.waiting[ticket] = nil
    }
    guard let job else {
      #expect(!model.waiting.contains { !blocked.contains($0.key.session) }, "no work is left behind")
      return
    }
    #expect(model.running[job.key] == nil, "equal work runs once")
    let expected = Set(model.waiting.filter { $0.value == job.key && !blocked.contains($0.key.session) }.keys)
    #expect(Set(job.waiters) == expected && !expected.isEmpty)
    // The request whose turn it is was the first of its session.
    if let first = job.waiters.first {
      let own = model.waiting.keys.filter { $0.session == first.session }
      #expect(own.map(\.sequence).min() == first.sequence)
    }
    for ticket in job.waiters { model.waiting[ticket] = nil }
    model.running[job.key] = expected
  }

  @Test func turnsAreFairWhateverTheNumberOfRequests() {
    var queue = ImageQueue<Int>()
    for session in 1...6 { queue.addSession(session, client: ImageClient(process: session <= 5 ? "greedy" : "modest")) }
    var key = 0
    for session in 1...6 {
      for sequence in 0..<100 {
        key += 1
        queue.add(ImageTicket(session: session, sequence: Int64(sequence)), key) { _ in true }
      }
    }
    var counts: [Int: Int] = [:]
    for _ in 0..<100 {
      guard let job = queue.take(reserve: { _ in true }), let first = job.waiters.first else { continue }
      counts[first.session, default: 0] += 1
      _ = queue.finish(job.key)
    }
    #expect(counts[6] == 50, "half of the turns are those of the other process")
    #expect((1...5).allSatisfy { counts[$0] == 10 })
  }

  @Test(arguments: 0..<TestTier.count(20, quick: 5)) func cachingSetsFollowTheirRules(_ seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var sets = CachingSets()
    sets.addSession(1, client: ImageClient(process: "a"))
    var members: Set<CachingSets.Member> = []
    var pending: Set<CachingSets.Member> = []
    /// The members of `pending` that had no turn.
    var postponed: Set<CachingSets.Member> = []
    let wants = [128, 256].map {
      CachingSets.Want(frame: ImageFrame(width: $0, height: $0), contentMode: .aspectFit)
    }
    for _ in 0..<1000 {
      let ids = (0..<5).map { _ in AssetID.random(in: 0...39, using: &random) }
      let want = wants.randomElement(using: &random)!
      let named = Set(ids.map { CachingSets.Member(assetID: $0, want: want) })
      switch Int.random(in: 0..<10, using: &random) {
      case ..<4:
        #expect(sets.count(of: 1, adding: ids, want) == members.union(named).count)
        sets.add(ids, want, to: 1)
        pending.formUnion(named.subtracting(members))
        members.formUnion(named)
      case ..<6:
        sets.remove(ids, want, from: 1)
        members.subtract(named)
        pending.subtract(named)
        postponed.subtract(named)
      case 6 where random.once(in: 10):
        sets.removeAll(from: 1)
        members = []
        pending = []
        postponed = []
      default:
        #expect(sets.take { _ in false }?.member == nil)
        var taken = sets.take(mayTakePostponed: false) { _ in true }
        if let member = taken?.member {
          #expect(pending.contains(member))
        } else {
          // The others had no turn.
          #expect(pending.isSubset(of: postponed))
          taken = sets.take { _ in true }
          #expect((taken == nil) == pending.isEmpty)
        }
        if let (session, member) = taken {
          #expect(session == 1 && pending.remove(member) != nil)
          postponed.remove(member)
          if random.once(in: 3) {
            sets.postpone(member, of: session)
            pending.insert(member)
            postponed.insert(member)
          }
        }
      }
      #expect(sets.pendingCount == pending.count)
      #expect((0..<40).allSatisfy { id in sets.holds(id) == members.contains { $0.assetID == id } })
    }
  }
}
