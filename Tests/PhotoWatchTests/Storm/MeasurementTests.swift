// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

/// Figures for a person who runs these tests by hand: PHOTOD_MEASURE=1, and PHOTOD_MEASURE_ROOT for a folder to scan.
@Suite(.serialized, .enabled(if: getenv("PHOTOD_MEASURE") != nil, "a measurement: PHOTOD_MEASURE is not set"))
struct MeasurementTests {
  @Test func fromCloseToRecord() async throws {
    let disk = try Disk()
    for index in 0..<200 { disk.makeDirectory("d\(index)") }
    let session = try await WatchSession(roots: [disk.root])
    var latencies: [Duration] = []
    for index in 0..<2000 {
      let file = open(disk.path("d\(index % 200)/\(index).jpg"), O_WRONLY | O_CREAT, 0o644)
      #expect(write(file, "x", 1) == 1)
      close(file)
      let closed = ContinuousClock.now
      try await session.take { if case .fileFound = $0 { true } else { false } }
      latencies.append(ContinuousClock.now - closed)
    }
    latencies.sort()
    var syncs: [Duration] = []
    for _ in 0..<1000 {
      let asked = ContinuousClock.now
      try await session.sync()
      syncs.append(ContinuousClock.now - asked)
    }
    syncs.sort()
    report("sync: p50 \(syncs[500]), p99 \(syncs[990])")
    report("close(2) to record: p50 \(latencies[1000]), p99 \(latencies[1980]), worst \(latencies[1999])")
    await session.watcher.stop()
  }

  @Test func firstScan() async throws {
    let disk = try Disk()
    var root = disk.root
    if let given = getenv("PHOTOD_MEASURE_ROOT") {
      root = String(cString: given)
    } else {
      for index in 0..<20_000 { disk.write("y\(index % 10)/m\(index / 10 % 50)/\(index).jpg") }
    }
    for _ in 0..<3 {
      let start = ContinuousClock.now
      let session = try await WatchSession(roots: [root], waiting: false)
      try await session.take { if case .scanEnded = $0 { true } else { false } }
      let scanned = ContinuousClock.now - start
      let again = ContinuousClock.now
      let request = session.watcher.rescan(root: 1, directory: nil)
      try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
      report(
        """
        first scan of \(session.model.files.count) files in \(session.model.directories.count) directories, \
        process start and the model included: \(scanned); again: \(ContinuousClock.now - again); \
        photod-watch has \(session.watcher.processID.map(Disk.residentKilobytes) ?? 0) KB
        """)
      await session.watcher.stop()
    }
  }

  /// The time for each folder must not grow with their number.
  @Test func firstScanOfAWideFolder() async throws {
    let disk = try Disk()
    var made = 0
    for count in [20_000, 80_000] {
      for index in made..<count { mkdir(disk.path("d\(index)"), 0o755) }
      made = count
      let session = try await WatchSession(
        roots: [disk.root],
        executable: Namespace.script(disk, "env -u PHOTOD_WATCH_CHECKS \(BuiltPrograms.path("photod-watch"))"),
        waiting: false)
      try await session.take { if case .scanEnded = $0 { true } else { false } }
      let ticks = Disk.processorTicks(try #require(session.watcher.processID))
      report("\(count) folders in one: \(ticks * 10_000 / count) µs of processor time in photod-watch for each")
      await session.watcher.stop()
    }
  }

  @Test func removingAndMovingLargeTrees() async throws {
    let disk = try Disk()
    for index in 0..<20_000 { disk.makeDirectory("a/\(index % 100)/\(index)") }
    let session = try await WatchSession(roots: [disk.root])
    var start = ContinuousClock.now
    disk.rename("a", "b")
    try await session.sync()
    report("20,000 directories renamed: \(ContinuousClock.now - start)")
    start = ContinuousClock.now
    Glibc.rename(disk.path("b"), disk.outside + "/b")
    try await session.sync()
    report("moved out: \(ContinuousClock.now - start)")
    start = ContinuousClock.now
    Glibc.rename(disk.outside + "/b", disk.path("b"))
    try await session.sync()
    report("moved in: \(ContinuousClock.now - start)")
    start = ContinuousClock.now
    Disk.removeTree(disk.path("b"))
    let removed = ContinuousClock.now - start
    try await session.sync()
    report("removed in \(removed), known \(ContinuousClock.now - start - removed) later")
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func aConsumerThatPausesWhileTheBufferOverflows() async throws {
    let disk = try Disk()
    for index in 0..<20_000 { disk.write("d\(index % 100)/\(index).jpg") }
    let session = try await WatchSession(roots: [disk.root])
    let process = try #require(session.watcher.processID)
    var last: UInt32 = 0
    for _ in 0..<80 { last = session.watcher.rescan(root: 1, directory: nil) }
    try await Task.sleep(for: .seconds(4))
    let full = Disk.residentKilobytes(process)
    for index in 0..<20_000 { disk.write("e\(index % 100)/\(index).jpg") }
    try await Task.sleep(for: .seconds(1))
    let fuller = Disk.residentKilobytes(process)
    try await session.take { $0 == .scanEnded(root: 1, request: last, complete: true) }
    try await session.sync()
    session.expectDiskState([disk.root])
    report(
      "photod-watch with nobody reading: \(full) KB, after 20,000 files more \(fuller) KB; then \(session.summary)")
    await session.watcher.stop()
  }

  @Test func manyFilesAtOnce() async throws {
    let disk = try Disk()
    let session = try await WatchSession(roots: [disk.root])
    let start = ContinuousClock.now
    for index in 0..<100_000 { disk.write("f\(index).jpg") }
    let written = ContinuousClock.now - start
    try await session.sync()
    session.expectDiskState([disk.root])
    let overflows = session.records.count { $0 == .overflow }
    report(
      "100,000 files in one directory written in \(written), known \(ContinuousClock.now - start - written) later, "
        + "\(session.records.count) records, \(overflows) overflows")
    await session.watcher.stop()
  }
}

extension Disk {
  /// The processor time of a process, in hundredths of a second.
  static func processorTicks(_ process: pid_t) -> Int {
    guard let line = read("/proc/\(process)/stat"), let end = line.lastIndex(of: ")") else { return 0 }
    return line[end...].split(separator: " ").dropFirst(12).prefix(2).compactMap { Int($0) }.reduce(0, +)
  }

  /// VmRSS of a process; 0 if it has ended.
  static func residentKilobytes(_ process: pid_t) -> Int {
    let lines = read("/proc/\(process)/status")?.split(separator: "\n") ?? []
    return lines.first { $0.hasPrefix("VmRSS:") }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }
}
