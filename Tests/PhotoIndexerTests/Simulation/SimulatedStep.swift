/// One step of a simulation. A step that is impossible at the moment does nothing. So every subset of a script is a
/// valid script.
///
/// A failing script is printed as these lines, to be pasted into a test.
enum SimulatedStep: Sendable, CustomStringConvertible {
  // A change by a person or by a program.
  case makeDirectory(String)
  /// Creates an empty file.
  case create(String)
  /// Writes half of a file, which stays open.
  case begin(String)
  /// Writes the rest of a half written file soon after. The program does not close the file, so no event reports it.
  case finish(String)
  /// Writes a whole file and closes it.
  case write(String)
  /// Like `write`, with the bytes of the photo that was last removed from another path.
  case writeAgain(String, bytesOf: String)
  /// A scanner writes a page and closes it. All pages share their size and their first 16 KiB.
  case scan(String)
  case touch(String)
  /// Edits in place, and keeps size and modification time.
  case edit(String)
  case save(String, beside: String)
  /// The end of a save: a file that was written beside the photo a moment ago is renamed over it.
  case replace(String, by: String)
  case rename(String, to: String)
  case exchange(String, with: String)
  case copy(String, to: String)
  /// Moves between file systems, as mv(1) does: copies the file and then removes the original.
  case carry(String, to: String)
  /// Copies with the modification time, as `cp -a` does.
  case copyExactly(String, to: String)
  /// Makes a backup of the folder outside of all roots.
  case backUp(String)
  /// Puts the folder back from its backup with all modification times. A person regards its photos as the same.
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
  /// Sets the configuration's `ignore` patterns.
  case ignore([String])
  case rescan(String, confirm: Bool)

  // The passage of time, and other events.
  case pass(milliseconds: Int)
  case watch(events: Int, listings: Int)
  /// The library takes this many inputs, and at most this many records of each batch.
  case take(Int, records: Int)
  case due
  case overflow
  case watchLimit(Int)
  /// photod-watch is killed, and this many of its last records are lost.
  case watcherDies(losing: Int)
  case watcherStarts
  /// The disk of the catalog is full: each n-th write of a row fails, with its transaction.
  case failWrites(Int)
  case makeRoom
  case kill
  /// The machine is restarted, and photod with it.
  case reboot
  case stop
  case start
  case sync
  /// The disturbances end. All changes are reported and must be in the library.
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
