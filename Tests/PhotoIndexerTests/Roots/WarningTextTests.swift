import Glibc
import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

/// The whole text of each warning.
@Suite struct WarningTextTests {
  struct Example: CustomTestStringConvertible {
    let warning: Warning
    let text: String

    init(_ warning: Warning, _ parts: String...) {
      self.warning = warning
      text = parts.joined(separator: " ")
    }

    var testDescription: String { text }
  }

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static let pics = bytes("/my pics")
  private static let graceEnd = PhotoDate(microseconds: 1_700_000_000_000_000)

  private static let lateness =
    "In folders that changed lately, photod notices new and removed photos within 2 seconds, in the others within 30. "
    + "It notices photos that are edited in place within a minute. With very many folders, it takes longer."

  private static let reload = "run `systemctl --user reload photod` (or send SIGHUP)."
  private static let unavailable = "Its photos stay in the library, but are not available"

  private static let catalog = [
    Example(
      .lastCommitNotRemembered(problem: "/s/mark can't be written: Permission denied"),
      "photod can't record the library's last commit: /s/mark can't be written: Permission denied.",
      "It could not recognise an old copy of the catalog that is put back.",
      "Make that folder writable for your user, or set XDG_STATE_HOME."),
    Example(
      .catalogNotice("The catalog was damaged, and is in /c.damaged."), "The catalog was damaged, and is in /c.damaged."
    ),
    Example(
      .catalogFileRemoved(problem: "/c can't be written: No space left on device"),
      "The catalog's file was removed, and photod can't write it again: /c can't be written: No space left on device."),
    Example(
      .catalogNotWritten(path: "/c", CatalogProblem(PrivateFile.failure("/c/log", "written", ENOSPC))),
      "The catalog /c can't be written: /c/log can't be written: No space left on device. Make room on its disk.",
      "photod tries again by itself."),
    Example(
      .backupFailed(problem: "There is no room for /b. Make room on its disk."),
      "The daily backup failed: There is no room for /b. Make room on its disk. photod tries again every hour."),
    Example(
      .backupFailed(problem: "SQLite error 5: database is locked"),
      "The daily backup failed: SQLite error 5: database is locked. photod tries again every hour."),
    Example(
      .configuration("The configuration has another socket, /s. Restart photod to use it."),
      "The configuration has another socket, /s. Restart photod to use it."),
  ]

  private static let watching = [
    Example(
      .watcherDied(reason: "signal 9", roots: []),
      "photod-watch died (signal 9). photod starts it again, and scans all folders."),
    Example(
      .watcherDied(reason: "signal 9", roots: [bytes("/nas"), bytes("/nas/b")]),
      "The photod-watch of /nas, /nas/b died (signal 9). photod starts it again, and scans the folder."),
    Example(
      .queueOverflowed, "Changes came faster than the kernel could queue them. photod scans all folders again."),
    Example(
      .watchesExhausted(folderCount: 1, nil),
      "1 folder is polled every few seconds: there are no more inotify watches.", lateness),
    Example(
      .watchesExhausted(
        folderCount: 3, WatchBudget(watched: 15, allowed: 15, limit: 20, isNamespaceLimit: false, isRefused: true)),
      "3 folders are polled every few seconds: photod has 15 inotify watches,",
      "and other programs of this user have the rest of the 20.",
      "Raise the limit with `sudo sysctl fs.inotify.max_user_watches=524288`, and for the next boot with",
      "`echo fs.inotify.max_user_watches=524288 | sudo tee -a /etc/sysctl.d/60-photod.conf`.", lateness),
    Example(
      .noInotifyInstance(folderCount: 2, errorNumber: EMFILE),
      "2 folders are polled every few seconds: the kernel gives photod no inotify instance (Too many open files).",
      "Other programs of this user have all of them. End some of these programs.",
      "Raise the limit with `sudo sysctl fs.inotify.max_user_instances=1024`, and for the next boot with",
      "`echo fs.inotify.max_user_instances=1024 | sudo tee -a /etc/sysctl.d/60-photod.conf`.",
      "photod tries again by itself.", lateness),
    Example(
      .silentFileSystems(folderCount: 2, types: ["nfs4", "fuse.sshfs"]),
      "2 folders are polled every few seconds: they are on nfs4, fuse.sshfs,",
      "which does not report changes by other machines or programs.", lateness),
    Example(
      .watchesRefused(folderCount: 2),
      "2 folders are polled every few seconds: the kernel lets photod read them, but not watch them (Permission denied).",
      "Allow it in the rules of the security module, such as SELinux. Then run `photoctl rescan`.", lateness),
  ]

  private static let roots = [
    Example(
      .rootOffline(pics, .notLookedAt), "/my pics was offline when photod started.", "\(unavailable) until it is back."),
    Example(
      .rootOffline(pics, .neverThere),
      "/my pics does not exist. Create it, and photod indexes it by itself. Or name your photo folders as `roots` in",
      "the configuration (see `photod --help`), and \(reload)"),
    Example(
      .rootOffline(pics, .cannotBeOpened(ETIMEDOUT)),
      "/my pics can't be opened (its share does not answer). \(unavailable) until it is back."),
    Example(
      .rootOffline(pics, .cannotBeOpened(ENODEV)),
      "/my pics can't be opened (its drive was unmounted). \(unavailable) until it is back.",
      "If it is gone for good, take it out of `roots` in the configuration, and \(reload)",
      "Then `photoctl rescan '/my pics' --confirm` removes its photos from the library."),
    Example(
      .rootForeign(pics, .otherFolder),
      "/my pics is another folder than before, and has no photo of the library: its drive is not mounted, or the folder",
      "was created again. \(unavailable) until they are back. If they are gone for good, run",
      "`photoctl rescan '/my pics' --confirm`. It removes them from the library, and adds the photos that are there now."
    ),
    Example(
      .rootForeign(pics, .otherFileSystem),
      "/my pics is on another file system than before: its drive is not mounted, or another drive is. \(unavailable)",
      "until the drive is mounted here. If you moved them here, or they are gone for good, run",
      "`photoctl rescan '/my pics' --confirm`. It adds the photos that are there now, and removes the others from the",
      "library."),
    Example(
      .rootSuspect(
        pics, missing: 1_200, examples: ["/my pics/a.jpg", "/my pics/b.jpg", "/my pics/2024/c.jpg"].map(bytes),
        end: graceEnd),
      "/my pics lacks 1,200 photos that it had before. For example, /my pics/a.jpg, /my pics/b.jpg and",
      "/my pics/2024/c.jpg are missing. photod has not removed them from the library. If their drive is",
      "not mounted, mount it; otherwise put the photos back. After \(graceEnd.localTimeToMinute), photod scans again and",
      "removes the photos that are still missing. `photoctl rescan '/my pics' --confirm` removes them now."),
    Example(
      .rootSuspect(pics, missing: 1, examples: [bytes("/my pics/a.jpg")], end: graceEnd),
      "/my pics lacks 1 photo that it had before. /my pics/a.jpg is missing. photod has not removed them from the library.",
      "If their drive is",
      "not mounted, mount it; otherwise put the photos back. After \(graceEnd.localTimeToMinute), photod scans again and",
      "removes the photos that are still missing. `photoctl rescan '/my pics' --confirm` removes them now."),
    Example(
      .rootUnconfigured(pics, isEmpty: true),
      "/my pics is no longer in the configuration. It has no photos in the library.",
      "`photoctl rescan '/my pics' --confirm` removes it from this list."),
    Example(
      .rootUnconfigured(pics, isEmpty: false),
      "/my pics is no longer in the configuration. \(unavailable).",
      "`photoctl rescan '/my pics' --confirm` removes them from the library."),
    Example(
      .driveAway(bytes("/pics/usb")),
      "/pics/usb is on another file system than before: its drive is not mounted, or another drive is mounted over it.",
      "\(unavailable) until the folder is as before. If they are gone for good, run `photoctl rescan '/pics/usb' --confirm`."
    ),
  ]

  private static let files = [
    Example(
      .sharesLeftOut(first: bytes("/pics/nas"), count: 1),
      "/pics/nas is a share that is mounted below a folder of the library. It is left out, because a share that does",
      "not answer would delay that folder. Photos of it that are in the library stay there, but are not available.",
      "To index it, add it to `roots` in the configuration, and \(reload)"),
    Example(
      .sharesLeftOut(first: bytes("/pics/nas"), count: 2),
      "2 shares that are mounted below folders of the library are left out, the first is /pics/nas. A share that does",
      "not answer would delay its folder. Photos of them that are in the library stay there, but are not available.",
      "To index them, add them to `roots` in the configuration, and \(reload)"),
    Example(
      .unreadable(first: bytes("/pics/a"), errorNumber: EACCES, count: 1),
      "1 folder or file can't be read: /pics/a (Permission denied). Its data in the library is kept.",
      "Correct the permissions. photod notices that by itself."),
    Example(
      .unreadable(first: bytes("/pics/a"), errorNumber: EIO, count: 2),
      "2 folders or files can't be read, the first is /pics/a (Input/output error). Their data in the library is kept.",
      "photod tries again by itself. If this continues, check the disk. Check the limit of open files, too (`ulimit -n`)."
    ),
    Example(
      .failingFiles(first: bytes("/pics/a.jpg"), reason: "Input/output error", count: 1),
      "1 file can't be read: /pics/a.jpg: Input/output error. photod tries again by itself. If this continues, check the",
      "disk."),
    Example(
      .failingFiles(first: bytes("/pics/a.jpg"), reason: "Input/output error", count: 2),
      "2 files can't be read, the first is /pics/a.jpg: Input/output error. photod tries again by itself.",
      "If this continues, check the disk."),
  ]

  static let examples = catalog + watching + roots + files

  @Test(arguments: examples) func eachWarningHasItsText(_ example: Example) {
    #expect(example.warning.text == example.text)
  }

  /// A new case does not compile here, and then needs an example.
  @Test func eachCaseHasAnExample() {
    let numbers = Set(
      Self.examples.map {
        switch $0.warning {
        case .lastCommitNotRemembered: 1
        case .catalogNotice: 2
        case .catalogFileRemoved: 3
        case .catalogNotWritten: 4
        case .backupFailed: 5
        case .configuration: 6
        case .watcherDied: 7
        case .queueOverflowed: 8
        case .watchesExhausted: 9
        case .noInotifyInstance: 10
        case .silentFileSystems: 11
        case .rootOffline: 12
        case .rootForeign: 13
        case .rootSuspect: 14
        case .rootUnconfigured: 15
        case .driveAway: 16
        case .sharesLeftOut: 17
        case .unreadable: 18
        case .failingFiles: 19
        case .watchesRefused: 20
        }
      })
    #expect(numbers == Set(1...20))
  }
}
