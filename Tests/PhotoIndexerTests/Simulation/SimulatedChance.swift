import PhotoTestSupport

/// Chooses the next steps from the seed and from the files on the disk.
struct SimulatedChance {
  private var random: SeededGenerator
  private let names = ["a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg", "\u{F7FF}.jpg"]
  private let folders = ["x", "y", "z", "\u{F7C3}\u{F7A9}y"]
  private let patterns = [[], ["b.jpg"], ["y"], ["x/*.jpg", "d.jpg"], ["/pics/x"], ["\u{F7FF}.*"], ["x/y/"]]
  private let tops = ["/pics", "/pics", "/pics", "/usb", "/usb", "/inbox", "/outside"]

  private let themes = SimulatedTheme.allCases.filter(SimulatedTheme.played.contains)

  init(seed: UInt64) { random = SeededGenerator(simulation: seed) }

  /// The kinds of the two file systems at the beginning.
  mutating func kinds() -> (main: SimulatedDisk.Kind, usb: SimulatedDisk.Kind) {
    (random.chance(75) ? .ext4 : .old, random.pick([.ext4, .fat, .old, .fat]))
  }

  mutating func beginning() -> [SimulatedStep] {
    var steps: [SimulatedStep] = []
    for top in ["/pics", "/usb"] {
      for folder in folders.prefix(1 + random.below(3)) { steps.append(.makeDirectory(top + "/" + folder)) }
    }
    for _ in 0..<(6 + random.below(14)) {
      let top = random.chance(60) ? "/pics" : "/usb"
      steps.append(.write(top + (random.chance(60) ? "/" + random.pick(folders) : "") + "/" + random.pick(names)))
    }
    return steps + [.start, .settle]
  }

  mutating func next(_ disk: SimulatedDisk) -> [SimulatedStep] {
    let dice = random.below(1000)
    if dice < 40 { return randomSequence(disk) }
    if dice < 110, let theme = themes.isEmpty ? nil : random.pick(themes) { return themed(theme, disk) }
    if dice < 480 { return person(disk) + (random.chance(70) ? [] : progress()) }
    if dice < 850 { return progress() }
    if dice < 950 { return disturbance() }
    if dice < 985 { return [.sync] }
    return [.settle]
  }

  /// Sequences of steps that rarely come about by chance.
  private mutating func randomSequence(_ disk: SimulatedDisk) -> [SimulatedStep] {
    let (files, _) = disk.everything()
    let root = random.chance(60) ? "/pics" : "/usb"
    let inRoot = files.filter { $0.hasPrefix(root + "/") }
    guard !inRoot.isEmpty else { return [.sync] }
    let file = random.pick(inRoot)
    let all: SimulatedStep = .watch(events: 1000, listings: 1000)
    switch random.below(8) {
    case 7:
      // A program saves, and the library takes the records in late.
      let new = SimulatedDisk.split(file).folder + "/new.jpg"
      return [
        .settle, .write(new), all, .pass(milliseconds: random.pick([5, 360, 1500])),
        .take(random.below(2), records: 1000),
        .replace(file, by: new), .pass(milliseconds: random.pick([5, 2500, 20_000])), all, .take(1000, records: 1000),
      ]
    case 5:
      // photod reads a photo after its folder was renamed.
      let folder = root + "/" + random.pick(folders)
      let new = folder + "/" + random.pick(names)
      return [
        .makeDirectory(folder), all, random.chance(50) ? .settle : all, .write(new), all, .take(1000, records: 1000),
        .write(new), all, .rename(folder, to: root + "/" + random.pick(folders)), .take(1000, records: 1000), all,
      ]
    case 6:
      // A photo moves to the other drive. The library takes in more or less of it in between.
      let other = root == "/pics" ? "/usb" : "/pics"
      return [.settle, .carry(file, to: other + "/" + random.pick(names))] + progress() + [.settle]
    case 4:
      // photod reads half a photo, and no event reports the rest.
      let new = root + "/" + random.pick(names)
      return [
        .begin(new), all, .pass(milliseconds: 600), all, .take(1000, records: 1000),
        .pass(milliseconds: random.pick([10, 4000])), .finish(new),
      ]
    case 0:
      // A scan lists the folder while a photo is away.
      return [
        .rescan(root, confirm: false), .watch(events: 1000, listings: random.below(3)), .remove(file),
        .watch(events: 0, listings: 1 + random.below(4)), .write(file), .watch(events: 1000, listings: 0),
      ]
    case 1:
      // Many files are removed, and their events are lost.
      let gone = inRoot.filter { _ in random.chance(80) }.map { SimulatedStep.remove($0) }
      return gone + [.overflow, all, .pass(milliseconds: 30), all, .take(1000, records: 1000)]
    case 2:
      // The first scan makes photos suspect, and the second one misses more.
      let many = (0..<14).map { "\(root)/m\($0).jpg" }
      func gone(_ paths: some Sequence<String>) -> [SimulatedStep] {
        paths.map { .remove($0) } + [.overflow, all, .pass(milliseconds: 30), all, .take(1000, records: 1000)]
      }
      let count = 6 + random.below(2)
      return many.map { .write($0) } + [.settle] + gone(many.prefix(count))
        + gone(many.dropFirst(count)).dropLast(random.chance(50) ? 4 : 0)
        + [.pass(milliseconds: 601_000), .due, all, .pass(milliseconds: 30), all, .take(1000, records: 1000)]
    default:
      // The catalog can't be written while a client waits.
      return [
        .failWrites(1), .sync, .write(file), all, .pass(milliseconds: 30), all, .take(1000, records: 1000),
        .makeRoom, .pass(milliseconds: 61_000), .due,
      ]
    }
  }

  private mutating func themed(_ theme: SimulatedTheme, _ disk: SimulatedDisk) -> [SimulatedStep] {
    let (files, directories) = disk.everything()
    let inner = directories.filter { $0.split(separator: "/").count > 1 && !disk.isDenied($0) }
    let root = random.chance(60) ? "/pics" : "/usb"
    func place(_ random: inout SeededGenerator) -> String {
      (random.chance(50) && !inner.isEmpty ? random.pick(inner) : root) + "/" + random.pick(names)
    }
    let (one, two) = (place(&random), place(&random))
    let some = files.isEmpty ? one : random.pick(files)
    switch theme {
    case .scans:
      let said: [SimulatedStep] = random.chance(50) ? [.favorite(one, true)] : []
      switch random.below(4) {
      case 0: return [.scan(one)]
      case 1: return [.scan(some)] + maybe(progress())
      case 2: return [.scan(one), .scan(two)] + meanwhile() + said + [.remove(one)] + meanwhile() + [.scan(one)]
      default: return [.scan(one), .settle] + said + [.remove(one)] + meanwhile() + [.scan(two)] + maybe(progress())
      }
    case .copies:
      let copy: SimulatedStep = random.chance(60) ? .copyExactly(some, to: one) : .copy(some, to: one)
      let said: [SimulatedStep] = random.chance(50) ? [.favorite(random.pick([some, one]), true)] : []
      return [copy] + meanwhile() + said + maybe([.remove(random.pick([some, one]))]) + meanwhile()
    case .clock:
      let days = random.pick([40, 40, -40])
      return [.setClock(days: days)] + maybe(person(disk)) + meanwhile() + [.setClock(days: -days)]
    case .restores:
      guard !inner.isEmpty else { return [] }
      let folder = random.pick(inner)
      return maybe([.settle]) + [.backUp(folder), .remove(folder)] + meanwhile() + [.restore(folder)] + meanwhile()
    case .links:
      let next: SimulatedStep =
        switch random.below(4) {
        case 0: .remove(some)
        case 1: .favorite(one, true)
        case 2: .save(some, beside: ".new")
        default: .rename(random.pick([some, one]), to: two)
        }
      return [.link(some, to: one)] + meanwhile() + [next] + maybe(progress())
    case .quietEdits: return unseen([.edit(some)])
    case .swaps:
      let third = files.isEmpty ? two : random.pick(files)
      return maybe([.settle]) + unseen([.rename(some, to: one), .copy(third, to: some)])
    case .saves:
      guard let removed = files.isEmpty ? nil : random.pick(files), removed != some else { return [] }
      let new = SimulatedDisk.split(some).folder + "/new.jpg"
      let said: [SimulatedStep] = [.favorite(some, true)] + (random.chance(50) ? [.favorite(removed, true)] : [])
      return [.settle] + said + [.remove(removed)] + meanwhile() + [
        .writeAgain(new, bytesOf: removed), .watch(events: 1000, listings: 1000),
        .pass(milliseconds: random.pick([5, 360, 1500])), .take(random.below(3), records: 1 + random.below(8)),
        .replace(some, by: new),
      ] + maybe(progress())
    }
  }

  private mutating func maybe(_ steps: [SimulatedStep]) -> [SimulatedStep] { random.chance(60) ? steps : [] }

  /// Does nothing, gives the watcher and the library a turn, or restarts something.
  private mutating func meanwhile() -> [SimulatedStep] {
    switch random.below(4) {
    case 0: []
    case 1: [.settle]
    case 2: random.chance(50) ? [.kill, .start] : [.stop, .start]
    default: progress()
    }
  }

  /// Plays the steps with a watcher or without one.
  private mutating func unseen(_ steps: [SimulatedStep]) -> [SimulatedStep] {
    switch random.below(5) {
    case 0: steps
    case 1: [.stop] + steps + [.start]
    case 2: [.kill] + steps + [.start]
    case 3: [.watcherDies(losing: random.below(3))] + steps + [.watcherStarts]
    default: steps + [.overflow]
    }
  }

  private mutating func progress() -> [SimulatedStep] {
    switch random.below(10) {
    case 0, 1, 2: [.watch(events: 1 + random.below(6), listings: random.below(3))]
    case 3: [.watch(events: 1000, listings: 1000)]
    case 4, 5: [.take(1 + random.below(2), records: 1 + random.below(8))]
    case 6: [.take(1000, records: 1000)]
    case 7: [.pass(milliseconds: random.pick([5, 25, 210, 600, 2100]))]
    case 8: [.pass(milliseconds: random.pick([2100, 6000, 61_000, 600_000])), .due]
    default:
      [
        .watch(events: 1000, listings: 1000), .pass(milliseconds: 25), .watch(events: 1000, listings: 1000),
        .pass(milliseconds: 210), .watch(events: 1000, listings: 1000), .take(1000, records: 1000),
      ]
    }
  }

  private mutating func disturbance() -> [SimulatedStep] {
    switch random.below(18) {
    case 0, 1: [.overflow]
    case 2, 3: [.watcherDies(losing: random.below(6))]
    case 4, 5, 6: [.watcherStarts]
    case 7: [.failWrites(1 + random.below(8))]
    case 8: [.makeRoom]
    case 9: [.kill]
    case 10: [.reboot]
    case 11: [.stop]
    case 12, 13: [.start]
    case 14: [.watchLimit(random.pick([0, 1, 2, 3, 1000]))]
    case 15, 16: [.ignore(random.pick(patterns))]
    default: [.roots(random.pick([["/pics"], ["/pics", "/usb"], ["/pics", "/usb", "/inbox"], ["/usb", "/pics"]]))]
    }
  }

  private mutating func person(_ disk: SimulatedDisk) -> [SimulatedStep] {
    let (files, directories) = disk.everything()
    func file(_ random: inout SeededGenerator) -> String { files.isEmpty ? "/pics/a.jpg" : random.pick(files) }
    let inner = directories.filter { $0.split(separator: "/").count > 1 }
    let folder = random.chance(80) && !directories.isEmpty ? random.pick(directories) : random.pick(tops)
    let newFile = folder + "/" + random.pick(names)
    let newFolder = folder + "/" + random.pick(folders)
    let some = file(&random)
    switch random.below(100) {
    case 0..<14: return [.write(newFile)]
    case 14..<18: return [.begin(newFile)]
    case 18..<20: return [.create(newFile)]
    case 20..<23: return [.write(some)]
    case 23..<25: return [.touch(some)]
    case 25..<26: return [.edit(some)]
    case 26..<32: return [.save(some, beside: random.pick([".new", "new.jpg", "new.part"]))]
    case 32..<46: return [.rename(some, to: random.chance(70) ? newFile : file(&random))]
    case 46..<48: return [.exchange(some, with: file(&random))]
    case 48..<55: return [.remove(some)]
    case 55..<57: return [.copy(some, to: newFile)]
    case 57..<58: return [.carry(some, to: newFile)]
    case 58..<60: return [.link(some, to: newFile)]
    case 60..<65: return [.makeDirectory(newFolder), .write(newFolder + "/" + random.pick(names))]
    case 65..<72 where !inner.isEmpty: return [.rename(random.pick(inner), to: newFolder)]
    case 72..<73 where inner.count > 1: return [.exchange(random.pick(inner), with: random.pick(inner))]
    case 73..<75 where !inner.isEmpty: return [.remove(random.pick(inner))]
    case 75..<76 where !inner.isEmpty: return [.copy(random.pick(inner), to: newFolder)]
    case 76..<77: return disk.names("/pics").map { .remove("/pics/" + $0) }
    case 77..<81: return [.unmount("/usb")]
    case 81..<86: return [.mount(1, at: "/usb")]
    case 86..<87: return [.mount(2, at: "/usb")]
    case 87..<88 where !inner.isEmpty: return [.deny(random.pick(inner))]
    case 88..<90: return directories.filter { disk.isDenied($0) }.map { .allow($0) }
    case 90..<91: return [.setClock(days: random.pick([-400, -3, 3, 400]))]
    case 91..<92: return [random.chance(50) ? .write(folder + "/.nomedia") : .remove(folder + "/.nomedia")]
    case 92..<95: return [.favorite(some, random.chance(80))]
    case 95..<96: return [.hide(some, random.chance(70))]
    case 96..<98: return [.rescan(random.pick(["/pics", "/usb"]), confirm: random.chance(30))]
    default: return [.remove(some), .write(some)]
    }
  }
}

extension SimulatedDisk {
  /// The sorted paths of all mounted files and directories. The tops of roots count as directories.
  func everything() -> (files: [String], directories: [String]) {
    var files: [String] = []
    var directories: [String] = []
    func walk(_ path: String) {
      guard let key = resolve(path) else { return }
      if path != "" { directories.append(path) }
      for (name, entry) in node(key).entries.sorted(by: { $0.key < $1.key }) {
        if entry.photo == 0 { walk(path + "/" + name) } else if !name.hasPrefix(".") { files.append(path + "/" + name) }
      }
    }
    walk("")
    return (files, directories)
  }

  func names(_ path: String) -> [String] { resolve(path).map { node($0).entries.keys.sorted() } ?? [] }

  func isDenied(_ path: String) -> Bool { resolve(path).map { !node($0).isReadable } ?? false }
}
