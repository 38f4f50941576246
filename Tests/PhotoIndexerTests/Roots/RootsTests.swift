import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// The states of a root, and the data that each change of state keeps.
@Suite struct RootsTests {
  private static let (noon, evening) = (PhotoDate(microseconds: 12), PhotoDate(microseconds: 18))
  private static let suspect = Suspect(since: .init(uptime: 1, date: noon), missing: 150)

  @Test func rootThatGoesOfflineIsNoLongerSuspectWhenItIsBack() {
    var roots = Roots()
    roots.add(7, number: 1)
    roots.setSuspect(7, Self.suspect)
    #expect(roots.hasSuspects && roots[7]?.isAvailable == true)
    roots.setOffline(7, .cannotBeOpened(2), at: Self.noon)
    #expect(!roots.hasSuspects && roots[7]?.isAvailable == false)
    roots.setOnline(7)
    #expect(roots[7]?.suspect == nil && roots[7]?.absenceCause == nil && roots[7]?.isAvailable == true)
  }

  @Test func anotherReasonKeepsTheDate() throws {
    var roots = Roots()
    roots.add(7)
    roots.setOffline(7, .cannotBeOpened(2), at: Self.noon)
    roots.setForeign(7, .otherFileSystem, at: Self.evening)
    #expect(roots[7]?.isForeign == true)
    guard case .settled(.foreign(let since, .otherFileSystem)) = try #require(roots[7]).state else {
      Issue.record("not foreign")
      return
    }
    #expect(since == Self.noon)
  }

  @Test func suspicionRemainsWhenItsRootComesOnline() {
    var roots = Roots()
    roots.add(7)
    roots.setSuspect(7, Self.suspect)
    roots.setOnline(7)
    #expect(roots[7]?.suspect?.missing == 150)
    let ended = roots.endSuspicion(of: 7)
    #expect(ended && !roots.hasSuspects)
    let endedAgain = roots.endSuspicion(of: 7)
    #expect(!endedAgain)
  }

  @Test func rootThatIsConfiguredAgainIsOfflineUntilItIsScanned() throws {
    var roots = Roots()
    roots.add(7, number: 1)
    roots[7]?.isBlind = true
    roots[7]?.needsScan = true
    roots.setUnconfigured(7, at: Self.noon)
    #expect(roots[number: 1] == nil && roots[7]?.isBlind == false && roots[7]?.needsScan == false)
    // photod-watch may still report the root under its old number.
    roots.setOffline(7, .cannotBeOpened(2), at: Self.evening)
    #expect(roots[7]?.isUnconfigured == true)
    roots.setConfigured(7)
    guard case .settled(.offline(Self.noon, .notLookedAt)) = try #require(roots[7]).state else {
      Issue.record("not offline")
      return
    }
  }

  /// photod-watch starts again and looks at every root anew.
  @Test func rootKeepsItsPresenceWhileAScanIsAwaited() throws {
    var roots = Roots()
    roots.add(7, number: 1)
    roots.setSuspect(7, Self.suspect)
    roots.updateAll { $0.isScanAwaited = true }
    guard case .scanning(.suspect) = try #require(roots[7]).state else {
      Issue.record("not scanning")
      return
    }
    #expect(roots.hasSuspects && roots[7]?.isAvailable == true)
    roots.setForeign(7, .otherFolder, at: Self.noon)
    #expect(roots[7]?.isScanAwaited == true && roots[7]?.isForeign == true && !roots.hasSuspects)
    roots.setOnline(7)
    roots[7]?.isScanAwaited = false
    guard case .settled(.online) = try #require(roots[7]).state else {
      Issue.record("not online")
      return
    }
  }

  @Test func noScanOfAnUnconfiguredRootIsAwaited() throws {
    var roots = Roots()
    roots.add(7, number: 1)
    roots[7]?.isScanAwaited = true
    roots.setUnconfigured(7, at: Self.noon)
    #expect(roots[7]?.isScanAwaited == false)
    roots.updateAll { $0.isScanAwaited = true }
    roots.setSuspect(7, Self.suspect)
    roots.setForeign(7, .otherFolder, at: Self.evening)
    #expect(roots[7]?.isScanAwaited == false && roots[7]?.isUnconfigured == true)
    roots.setConfigured(7)
    #expect(roots[7]?.isScanAwaited == false && roots[7]?.isUnconfigured == false)
  }

  @Test func removedRootLeavesNoState() {
    var roots = Roots()
    roots.add(7, number: 1)
    roots.setSuspect(7, Self.suspect)
    roots[7] = nil
    #expect(roots.all.isEmpty && roots[number: 1] == nil && roots.numbers.isEmpty && !roots.hasSuspects)
  }

  /// Events of both roots were lost. One root leaves the configuration before its scan begins.
  @Test func rootThatIsConfiguredNoLongerDelaysNoDecision() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    try fixture.addSecondRoot()
    fixture.disk.pass(3_600)
    try fixture.apply(.overflow)
    let second = try #require(fixture.reconciler.roots.id(ofNumber: 2))
    fixture.reconciler.roots.setUnconfigured(second, at: Self.noon)
    fixture.disk.remove("/p/a.jpg")
    let saved = fixture.disk.write("/p/a.jpg", bytes: 200)
    let record = try fixture.scan([("a.jpg", saved)])
    #expect(record.updatedAssets.count == 1 && record.insertedAssets.isEmpty)
  }
}
