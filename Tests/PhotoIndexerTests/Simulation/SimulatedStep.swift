/// One thing that happens. A step that can't be done just now does nothing, so that every part of a script is a script.
///
/// A failing script is printed as these lines, to be pasted into a test.
enum SimulatedStep: Sendable, CustomStringConvertible {
  // A person, or a program.
  case makeDirectory(String)
  /// An empty file.
  case create(String)
  /// Half of it; it stays open.
  case begin(String)
  /// The rest of one that was made half, soon after, by a program that does not close it: nothing is told.
  case finish(String)
  /// All of it, and closed.
  case write(String)
  /// As `write`, with the bytes of the photo that was last removed from another path.
  case writeAgain(String, bytesOf: String)
  /// A scanner writes a page and closes it. All pages share their size and their first 16 KiB.
  case scan(String)
  case touch(String)
  /// In place, with size and modification time as they were.
  case edit(String)
  case save(String, beside: String)
  /// The end of a save: what was written beside it a moment ago is renamed over it.
  case replace(String, by: String)
  case rename(String, to: String)
  case exchange(String, with: String)
  case copy(String, to: String)
  /// As mv(1) between file systems: a copy, and then the first is removed.
  case carry(String, to: String)
  /// As `cp -a`: the copy keeps the modification time.
  case copyExactly(String, to: String)
  /// A backup of the folder is made outside of all roots.
  case backUp(String)
  /// The folder is put back from its backup with all modification times. For a person its photos are the same.
  case restore(String)
  case link(String, to: String)
  case remove(String)
  case deny(String)
  case allow(String)
  case unmount(String)
  case mount(Int, at: String)
  case setClock(days: Int)
  case favorite(String, Bool)
  case hide(String, Bool)
  case roots([String])
  /// The patterns of the configuration.
  case ignore([String])
  case rescan(String, confirm: Bool)

  // What time and chance bring.
  case pass(milliseconds: Int)
  case watch(events: Int, listings: Int)
  /// The library takes so many inputs, and of a batch at most so many records.
  case take(Int, records: Int)
  case due
  case overflow
  case watchLimit(Int)
  /// photod-watch is killed; so many of its last records are lost.
  case watcherDies(losing: Int)
  case watcherStarts
  /// The disk of the catalog is full: each n-th row that is written fails, with its transaction.
  case failWrites(Int)
  case makeRoom
  case kill
  /// The machine goes down with it.
  case reboot
  case stop
  case start
  case sync
  /// The disturbances end; all that happened is told, and must be in the library.
  case settle

  var description: String { SimulatedName.literal(text) }

  private var text: String {
    switch self {
    case .makeDirectory(let path): ".makeDirectory(\"\(path)\")"
    case .create(let path): ".create(\"\(path)\")"
    case .begin(let path): ".begin(\"\(path)\")"
    case .finish(let path): ".finish(\"\(path)\")"
    case .write(let path): ".write(\"\(path)\")"
    case .writeAgain(let path, let other): ".writeAgain(\"\(path)\", bytesOf: \"\(other)\")"
    case .edit(let path): ".edit(\"\(path)\")"
    case .replace(let path, let by): ".replace(\"\(path)\", by: \"\(by)\")"
    case .scan(let path): ".scan(\"\(path)\")"
    case .touch(let path): ".touch(\"\(path)\")"
    case .save(let path, let beside): ".save(\"\(path)\", beside: \"\(beside)\")"
    case .rename(let path, let to): ".rename(\"\(path)\", to: \"\(to)\")"
    case .exchange(let path, let with): ".exchange(\"\(path)\", with: \"\(with)\")"
    case .copy(let path, let to): ".copy(\"\(path)\", to: \"\(to)\")"
    case .carry(let path, let to): ".carry(\"\(path)\", to: \"\(to)\")"
    case .copyExactly(let path, let to): ".copyExactly(\"\(path)\", to: \"\(to)\")"
    case .backUp(let path): ".backUp(\"\(path)\")"
    case .restore(let path): ".restore(\"\(path)\")"
    case .link(let path, let to): ".link(\"\(path)\", to: \"\(to)\")"
    case .remove(let path): ".remove(\"\(path)\")"
    case .deny(let path): ".deny(\"\(path)\")"
    case .allow(let path): ".allow(\"\(path)\")"
    case .unmount(let path): ".unmount(\"\(path)\")"
    case .mount(let volume, let path): ".mount(\(volume), at: \"\(path)\")"
    case .setClock(let days): ".setClock(days: \(days))"
    case .favorite(let path, let isOn): ".favorite(\"\(path)\", \(isOn))"
    case .hide(let path, let isOn): ".hide(\"\(path)\", \(isOn))"
    case .roots(let paths): ".roots(\(paths))"
    case .ignore(let patterns): ".ignore(\(patterns))"
    case .rescan(let path, let confirm): ".rescan(\"\(path)\", confirm: \(confirm))"
    case .pass(let milliseconds): ".pass(milliseconds: \(milliseconds))"
    case .watch(let events, let listings): ".watch(events: \(events), listings: \(listings))"
    case .take(let count, let records): ".take(\(count), records: \(records))"
    case .due: ".due"
    case .overflow: ".overflow"
    case .watchLimit(let limit): ".watchLimit(\(limit))"
    case .watcherDies(let count): ".watcherDies(losing: \(count))"
    case .watcherStarts: ".watcherStarts"
    case .failWrites(let each): ".failWrites(\(each))"
    case .makeRoom: ".makeRoom"
    case .kill: ".kill"
    case .reboot: ".reboot"
    case .stop: ".stop"
    case .start: ".start"
    case .sync: ".sync"
    case .settle: ".settle"
    }
  }
}
