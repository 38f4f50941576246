import Foundation
import PhotoClient
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

/// Random changes of several clients at once, against a plain model in memory.
///
/// A line about each sequence is written to the standard error. PHOTOD_PRODUCTS names a folder of other programs, such
/// as release builds, with which a long run takes half the time.
@Suite(.timeLimit(.minutes(120))) struct ChangeModelTests {
  private static let seeds: ClosedRange<UInt64> = {
    let one = effort("PHOTOD_CHANGE_SEED", 0)
    return one > 0 ? UInt64(one)...UInt64(one) : 1...UInt64(effort("PHOTOD_CHANGE_SEEDS", 1))
  }()
  /// While one sequence waits for the disk or for a start of photod, the other one uses the processors.
  private static let sequencesAtOnce = 2
  private static let clientCount = 3

  @Test func changesOfSeveralClientsEqualAPlainModel() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, seed) in Self.seeds.enumerated() {
        if index >= Self.sequencesAtOnce { try await group.next() }
        group.addTask {
          let start = ContinuousClock.now
          let result = try await play(seed: seed)
          let time = (ContinuousClock.now - start).components.seconds
          FileHandle.standardError.write(Data("seed \(seed): \(result), \(time) s\n".utf8))
        }
      }
      try await group.waitForAll()
    }
  }

  /// - Returns: what was done, for the line about this sequence.
  private func play(seed: UInt64) async throws -> String {
    let requests = effort("PHOTOD_CHANGE_REQUESTS", 450)
    let clientCount = Self.clientCount
    var result = ""
    try await DaemonFixture.with { fixture in
      for index in 0..<30 {
        let photo = DaemonFixture.photo(index)
        try (index % 3 == 0 ? Self.described(photo, rating: index % 6) : photo)
          .write(to: URL(fileURLWithPath: fixture.path("\(index).jpg")))
      }
      try await fixture.start()
      try await fixture.synchronize()
      let socket = fixture.socket
      let library = PhotoLibrary(socketPath: socket)
      var model = ChangeModel(assets: try await library.assets(try await fixture.ids().ids))
      #expect(model.assets.values.count { $0.keywords == ["k1", "file"] && $0.title == "From the file" } == 10)
      // One album is followed. Clients may delete it.
      let album = ChangeRequest(createAlbum: .init(title: "followed", assetIDs: model.assets.keys.sorted()))
      let made = try await library.performChanges([album])
      let albumID = try #require(made.createdCollectionIDs.first)
      model.apply([album], created: [albumID], sequence: 0)
      let followed = FollowedAlbums()
      let lists = [
        FollowedAssets(FetchOptions(includeHidden: true)), FollowedAssets(FetchOptions(predicate: "rating >= 3")),
        FollowedAssets(FetchOptions(collection: "id:\(albumID)", includeHidden: true)),
      ]
      let following = Task {
        try await withThrowingTaskGroup { group in
          group.addTask { try await followed.follow(library) }
          for list in lists { group.addTask { try await list.follow(PhotoLibrary(socketPath: socket)) } }
          try await group.waitForAll()
        }
      }

      var (round, count, undone, callCount, rejectedCount) = (0, 0, 0, 0, 0)
      while count < requests {
        round += 1
        // Each client sees the collections as they were when the round began, so some of its requests come too late.
        let known = model
        let token = try await library.synchronize()
        let comment = "seed \(seed), round \(round)"
        // If only one client calls, the state of the library at each call is known.
        let isAlone = round % 4 == 2
        let calls = try await withThrowingTaskGroup(of: [Performed].self) { group in
          for client in 0..<(isAlone ? 1 : clientCount) {
            let seed = seed &* 1_000_003 &+ UInt64(round * clientCount + client)
            group.addTask { try await Self.perform(25, known, token, socket, client: client, seed: seed) }
          }
          return try await group.reduce(into: []) { $0 += $1 }
        }
        callCount += calls.count
        if isAlone { rejectedCount += expectRightRejections(calls, from: known, comment) }
        var log = calls.filter { !$0.isRejected }
        count += log.count
        try await Self.sort(&log, since: token, library)
        model = replay(log, from: known, comment)
        try await expectEqual(model, library, comment)
        if round % 3 == 0 {
          // While nobody else writes, the last changes can be undone in turn. A change of several calls is the last one only
          // if no other client has a call between them.
          let changes = try await library.undoableChanges()
          for change in changes.prefix(3) where change.id > ChangeToken(token)?.sequence ?? .max {
            let first = log.first { $0.isCommit && $0.sequence == change.id }
            let own = log.filter {
              $0.isCommit && ($0.sequence == change.id || $0.group != nil && $0.group == first?.group)
            }
            guard log.allSatisfy({ call in call.sequence < change.id || own.contains { $0.sequence == call.sequence } })
            else { break }
            _ = try await library.undoChange(change.id)
            log.removeAll { $0.sequence >= change.id }
            model = replay(log, from: known, comment)
            try await expectEqual(model, library, "\(comment), undoing \(change.id)")
            undone += 1
          }
        }
        let collections = try await library.collections()
        try await eventually("the observer has the list, \(comment)") { followed.collections == collections }
        let members = model.albums[albumID]?.members ?? []
        try await eventually("the observer has the album, \(comment)") { lists[2].ids == members }
        for (list, options) in zip(lists, [FetchOptions(includeHidden: true), FetchOptions(predicate: "rating >= 3")]) {
          let ids = try await Self.ids(options, library)
          try await eventually("the observer has the list of assets, \(comment)") { list.ids == ids }
        }
        for list in lists {
          let assets = try await library.assets(list.ids)
          try await eventually("the observer has the assets, \(comment)") { list.assets == assets }
        }
        if round % 4 == 0 {
          fixture.kill(round % 8 == 0 ? SIGKILL : SIGTERM)
          try await fixture.start()
        }
      }
      #expect(!model.albums.isEmpty && undone > 0 && (rejectedCount > 0 || round < 4))
      // Neither kill expired a token.
      let reloads = lists.flatMap(\.reloads)
      #expect(reloads.allSatisfy { $0 == .tooManyChanges }, "\(reloads)")
      following.cancel()
      result =
        "\(count) successful calls of \(callCount) in \(round) rounds, \(undone) undone, \(reloads.count) reloads"
    }
    return result
  }

  /// A photo whose file has a title, a caption, keywords and a rating.
  private static func described(_ photo: Data, rating: Int) -> Data {
    let packet = """
      http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/">\
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" \
      xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmp:Rating="\(rating)">\
      <dc:title><rdf:Alt><rdf:li xml:lang="x-default">From the file</rdf:li></rdf:Alt></dc:title>\
      <dc:description><rdf:Alt><rdf:li xml:lang="x-default">Harbour</rdf:li></rdf:Alt></dc:description>\
      <dc:subject><rdf:Bag><rdf:li>k1</rdf:li><rdf:li>file</rdf:li></rdf:Bag></dc:subject>\
      </rdf:Description></rdf:RDF></x:xmpmeta>
      """
    let length = packet.utf8.count + 2
    return photo.prefix(2) + Data([0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + packet.utf8)
      + photo.dropFirst(2)
  }

  /// Tokens have the order of the commits. A call without a difference has the token of the commit before it.
  private static func sort(_ log: inout [Performed], since token: String, _ library: PhotoLibrary) async throws {
    var origins: [Int64: String] = [:]
    for try await page in library.persistentChanges(since: token) {
      for change in page.changes {
        if let token = ChangeToken(change.token) { origins[token.sequence] = change.origin }
      }
    }
    func isBefore(_ one: Performed, _ other: Performed) -> Bool {
      func key(_ call: Performed) -> (Int64, Int, Int) {
        (call.sequence, origins[call.sequence] == "client:\(call.client)" ? 0 : 1, call.number)
      }
      return key(one) < key(other)
    }
    log.sort(by: isBefore)
    for index in log.indices {
      let call = log[index]
      log[index].isCommit =
        origins[call.sequence] == "client:\(call.client)"
        && (index == 0 || log[index - 1].sequence != call.sequence)
    }
  }

  private func replay(_ log: [Performed], from known: ChangeModel, _ comment: String) -> ChangeModel {
    var model = known
    for call in log {
      if let since = call.since {
        for id in call.requests.compactMap(\.editAsset).flatMap(\.ids) {
          #expect(model.lastChanges[id] ?? 0 <= since, "\(comment), asset \(id) had changed since \(since)")
        }
        for id in model.collections(namedBy: call.requests) {
          #expect(
            model.lastCollectionChanges[id] ?? 0 <= since, "\(comment), collection \(id) had changed since \(since)")
        }
      }
      #expect(model.accepts(call.requests), "\(comment), photod accepted \(call.requests)")
      model.apply(call.requests, created: call.created, sequence: call.sequence)
    }
    return model
  }

  /// Expects that the calls of the only client were rejected for a reason.
  ///
  /// - Returns: the number of rejected calls.
  private func expectRightRejections(
    _ calls: [Performed], from known: ChangeModel, _ comment: String
  ) -> Int {
    var model = known
    for call in calls {
      guard call.isRejected else {
        model.apply(call.requests, created: call.created, sequence: call.sequence)
        continue
      }
      // An edit that makes no difference of values may make one of the data behind them.
      let edited = call.requests.compactMap(\.editAsset).flatMap(\.ids)
      let areEdited = call.since.map { since in edited.contains { model.lastEdits[$0] ?? 0 > since } } ?? false
      // A collection also changes with its assets, its folder, and the collections beside it.
      let areTouched = call.since.map { since in
        !model.collections(namedBy: call.requests).isEmpty
          && (model.lastEdits.values.contains { $0 > since }
            || model.lastCollectionChanges.values.contains { $0 > since })
      }
      let mayHaveChanged = areEdited || areTouched ?? false
      #expect(mayHaveChanged || !model.accepts(call.requests), "\(comment), photod rejected \(call.requests)")
    }
    return calls.count(where: \.isRejected)
  }

  private func expectEqual(_ model: ChangeModel, _ library: PhotoLibrary, _ comment: String) async throws {
    for difference in try await model.differences(from: library) { Issue.record("\(comment): \(difference)") }
  }

  private static func ids(_ options: FetchOptions, _ library: PhotoLibrary) async throws -> [AssetID] {
    var ids: [AssetID] = []
    for try await page in library.fetchIDs(options) { ids += page.ids }
    return ids
  }

  private struct Performed: Sendable {
    let client: String
    let sequence: Int64
    /// Its place among the calls of its client in this round.
    let number: Int
    let requests: [ChangeRequest]
    let created: [CollectionID]
    /// The sequence of `ifUnchangedSince`.
    let since: Int64?
    /// The name of its group, which no other client and no other round has.
    let group: String?
    /// Whether it changed something.
    var isCommit = false
    /// Whether photod rejected it. It has no sequence then.
    var isRejected = false
  }

  /// - Returns: the calls, in their order.
  private static func perform(
    _ count: Int, _ model: ChangeModel, _ token: String, _ socket: String, client: Int, seed: UInt64
  ) async throws -> [Performed] {
    let name = "client \(client)"
    let library = PhotoLibrary(socketPath: socket, clientName: name)
    var random = SeededGenerator(seed: seed)
    var performed: [Performed] = []
    for number in 0..<count {
      let requests = model.randomCall(using: &random)
      let since = Int.random(in: 0..<6, using: &random) == 0 ? token : nil
      let group = Int.random(in: 0..<4, using: &random) == 0 ? "\(seed) \(number / 3)" : nil
      do {
        let result = try await library.performChanges(requests, ifUnchangedSince: since, undoGroup: group)
        let sequence = try #require(ChangeToken(result.token)?.sequence)
        performed.append(
          Performed(
            client: name, sequence: sequence, number: number, requests: requests, created: result.createdCollectionIDs,
            since: since.flatMap { ChangeToken($0)?.sequence }, group: group))
      } catch PhotoLibraryError.changeRejected, PhotoLibraryError.noSuchAsset, PhotoLibraryError.noSuchCollection {
        // Nothing of the call was done, which the comparison shows.
        performed.append(
          Performed(
            client: name, sequence: 0, number: number, requests: requests, created: [],
            since: since.flatMap { ChangeToken($0)?.sequence }, group: group, isRejected: true))
      }
    }
    return performed
  }
}
