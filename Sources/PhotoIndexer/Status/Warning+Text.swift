import Glibc
import PhotoModel
import SystemErrors
import WatchRecords

// The messages of warnings. The documentation has an entry for each; Documentation/messages compares them.
extension Warning {
  package var text: String {
    switch self {
    case .lastCommitNotRemembered(let problem):
      """
      photod can't record the library's last commit: \(Self.sentence(problem)) It could not recognise an old copy of the catalog that is \
      put back. Make that folder writable for your user, or set XDG_STATE_HOME.
      """
    case .catalogNotice(let sentence), .configuration(let sentence): sentence
    case .catalogFileRemoved(let problem):
      "The catalog's file was removed, and photod can't write it again: \(Self.sentence(problem))"
    case .catalogNotWritten(let path, let problem):
      "The catalog \(path) can't be written: \(problem.text)"
    case .backupFailed(let problem): "The daily backup failed: \(Self.sentence(problem)) photod tries again every hour."
    case .watcherDied(let reason, let roots) where roots.isEmpty:
      "photod-watch died (\(reason)). photod starts it again, and scans all folders."
    case .watcherDied(let reason, let roots):
      "The photod-watch of \(Self.list(roots)) died (\(reason)). photod starts it again, and scans the folder."
    case .queueOverflowed: "Changes came faster than the kernel could queue them. photod scans all folders again."
    case .watchesExhausted(let count, let budget):
      "\(counted(count, "folder is", "folders are")) polled every few seconds: \(Self.limit(budget, count)) \(Self.lateness)"
    case .noInotifyInstance(let count, let errorNumber):
      """
      \(counted(count, "folder is", "folders are")) polled every few seconds: the kernel gives photod no inotify instance \
      (\(errorText(errorNumber))). Other programs of this user have all of them. End some of these programs. \
      \(Self.raising("fs.inotify.max_user_instances=1024")) photod tries again by itself. \(Self.lateness)
      """
    case .silentFileSystems(let count, let types):
      """
      \(counted(count, "folder is", "folders are")) polled every few seconds: \(count == 1 ? "it is" : "they are") on \
      \(types.joined(separator: ", ")), which does not report changes by other machines or programs. \(Self.lateness)
      """
    case .watchesRefused(let count):
      """
      \(counted(count, "folder is", "folders are")) polled every few seconds: the kernel lets photod read \
      \(count == 1 ? "it" : "them"), but not watch \(count == 1 ? "it" : "them") (\(errorText(EACCES))). Allow it in the rules \
      of the security module, such as SELinux. Then run `photoctl rescan`. \(Self.lateness)
      """
    case .rootOffline(let path, let reason): reason.text(of: FilePath.text(path), at: FilePath.text(path))
    case .rootForeign(let path, let folder): folder.text(of: FilePath.text(path), at: FilePath.text(path))
    case .rootSuspect(let path, let missing, let examples, let end):
      Suspect.text(of: FilePath.text(path), at: FilePath.text(path), missing: missing, examples, until: end)
    case .rootUnconfigured(let path, isEmpty: true):
      "\(FilePath.text(path)) is no longer in the configuration. It has no photos in the library. `photoctl rescan \(ShellWord.inQuotes(FilePath.text(path))) --confirm` removes it from this list."
    case .rootUnconfigured(let path, isEmpty: false):
      "\(FilePath.text(path)) is no longer in the configuration. Its photos stay in the library, but are not available. `photoctl rescan \(ShellWord.inQuotes(FilePath.text(path))) --confirm` removes them from the library."
    case .driveAway(let path):
      "\(FilePath.text(path)) is on another file system than before: its drive is not mounted, or another drive is mounted over it. Its photos stay in the library, but are not available until the folder is as before. If they are gone for good, run `photoctl rescan \(ShellWord.inQuotes(FilePath.text(path))) --confirm`."
    case .sharesLeftOut(let first, count: 1):
      "\(FilePath.text(first)) is a share that is mounted below a folder of the library. It is left out, because a share that does not answer would delay that folder. Photos of it that are in the library stay there, but are not available. To index it, add it to `roots` in the configuration, and run `systemctl --user reload photod` (or send SIGHUP)."
    case .sharesLeftOut(let first, let count):
      "\(grouped(count)) shares that are mounted below folders of the library are left out, the first is \(FilePath.text(first)). A share that does not answer would delay its folder. Photos of them that are in the library stay there, but are not available. To index them, add them to `roots` in the configuration, and run `systemctl --user reload photod` (or send SIGHUP)."
    case .unreadable(let first, let errorNumber, count: 1):
      "1 folder or file can't be read: \(FilePath.text(first)) (\(errorText(errorNumber))). Its data in the library is kept. \(Self.remedy(ofUnreadable: errorNumber))"
    case .unreadable(let first, let errorNumber, let count):
      "\(grouped(count)) folders or files can't be read, the first is \(FilePath.text(first)) (\(errorText(errorNumber))). Their data in the library is kept. \(Self.remedy(ofUnreadable: errorNumber))"
    case .failingFiles(let first, let reason, count: 1):
      "1 file can't be read: \(FilePath.text(first)): \(reason). \(Self.retry)"
    case .failingFiles(let first, let reason, let count):
      "\(grouped(count)) files can't be read, the first is \(FilePath.text(first)): \(reason). \(Self.retry)"
    }
  }
}

extension OfflineReason {
  /// - Parameter subject: the root's path, or a noun for it if the text around the message has the path.
  func text(of subject: String, at path: String) -> String {
    switch self {
    case .notLookedAt: Self.unseen(subject)
    case .neverThere:
      "\(subject) does not exist. Create it, and photod indexes it by itself. Or name your photo folders as `roots` in the configuration (see `photod --help`), and run `systemctl --user reload photod` (or send SIGHUP)."
    case .cannotBeOpened(let errorNumber):
      "\(subject) can't be opened (\(Self.cause(errorNumber))). Its photos stay in the library, but are not available until it is back.\(Self.remedy(errorNumber, path))"
    }
  }
}

extension ForeignFolder {
  /// - Parameter subject: the root's path, or a noun for it if the text around the message has the path.
  func text(of subject: String, at path: String) -> String {
    switch self {
    case .otherFolder:
      "\(subject) is another folder than before, and has no photo of the library: its drive is not mounted, or the folder was created again. Its photos stay in the library, but are not available until they are back. If they are gone for good, run `photoctl rescan \(ShellWord.inQuotes(path)) --confirm`. It removes them from the library, and adds the photos that are there now."
    case .otherFileSystem:
      "\(subject) is on another file system than before: its drive is not mounted, or another drive is. Its photos stay in the library, but are not available until the drive is mounted here. If you moved them here, or they are gone for good, run `photoctl rescan \(ShellWord.inQuotes(path)) --confirm`. It adds the photos that are there now, and removes the others from the library."
    }
  }
}

extension Suspect {
  /// - Parameters:
  ///   - subject: the root's path, or a noun for it if the text around the message has the path.
  ///   - examples: the paths of some of the missing photos.
  ///   - end: when the removal grace ends.
  static func text(
    of subject: String, at path: String, missing: Int, _ examples: [[UInt8]], until end: PhotoDate
  ) -> String {
    "\(subject) lacks \(counted(missing, "photo", "photos")) that it had before.\(Warning.sentence(examples, ofMissing: missing)) photod has not removed them from the library. If their drive is not mounted, mount it; otherwise put the photos back. After \(end.localTimeToMinute), photod scans again and removes the photos that are still missing. `photoctl rescan \(ShellWord.inQuotes(path)) --confirm` removes them now."
  }
}

// MARK: - Parts of messages

extension Warning {
  /// The text of an error as a sentence. That of SQLite has no full stop.
  private static func sentence(_ problem: String) -> String { problem.hasSuffix(".") ? problem : problem + "." }

  private static func list(_ paths: [[UInt8]]) -> String { paths.map { FilePath.text($0) }.joined(separator: ", ") }

  /// ` For example, /p/a.jpg and /p/b.jpg are missing.`
  static func sentence(_ examples: [[UInt8]], ofMissing missing: Int) -> String {
    let paths = examples.map { FilePath.text($0) }
    guard let last = paths.last else { return "" }
    let list = paths.count == 1 ? last : paths.dropLast().joined(separator: ", ") + " and " + last
    return (missing > paths.count ? " For example, " : " ") + list
      + (paths.count == 1 ? " is missing." : " are missing.")
  }

  static func remedy(ofUnreadable errorNumber: Int32) -> String {
    errorNumber == EACCES || errorNumber == EPERM
      ? "Correct the permissions. photod notices that by itself."
      : "\(retry) Check the limit of open files, too (`ulimit -n`)."
  }

  static let retry = "photod tries again by itself. If this continues, check the disk."

  /// photod-watch polls the folders that changed lately more often than the others. Its share of the processor may not
  /// suffice for the times that are named here.
  private static let lateness = """
    In folders that changed lately, photod notices new and removed photos within 2 seconds, in the others within 30. \
    It notices photos that are edited in place within a minute. With very many folders, it takes longer.
    """

  private static func raising(_ setting: String) -> String {
    "Raise the limit with `sudo sysctl \(setting)`, and for the next boot with `echo \(setting) | sudo tee -a /etc/sysctl.d/60-photod.conf`."
  }

  private static func limit(_ budget: WatchBudget?, _ folderCount: Int) -> String {
    guard let budget else { return "there are no more inotify watches." }
    let (watched, limit) = (Int(budget.watched), Int(budget.limit))
    // The recommended limit, with room for growth and for the share that other programs keep.
    let wanted = max(limit * 2, (watched + folderCount) * 2, 524_288)
    let name = budget.isNamespaceLimit ? "user.max_inotify_watches" : "fs.inotify.max_user_watches"
    let cause =
      budget.isRefused
      ? "photod has \(grouped(watched)) inotify watches, and other programs of this user have the rest of the \(grouped(limit))."
      : "photod has \(grouped(watched)) inotify watches, its share of the \(grouped(limit)) that this user may have."
    return "\(cause) \(raising("\(name)=\(wanted)"))"
  }
}

extension CatalogProblem {
  /// The error and its remedy. Each message about a catalog that can't be written ends with it.
  var text: String {
    let error = error.hasSuffix(".") ? String(error.dropLast()) : error
    return [error + ".", remedy, "photod tries again by itself."].compactMap { $0 }.joined(separator: " ")
  }

  private var remedy: String? {
    switch failure {
    case .noRoom: "Make room on its disk."
    case .notWritable:
      "Make the file and its folder writable for your user. If their file system is read-only, check its disk (`dmesg`)."
    case .locked: "Another program has locked it. End that program."
    case .disk: "Check its disk (`dmesg`)."
    case .explained: nil
    case .bug: "This is a bug of photod. Please report it with the log (`journalctl --user -u photod`)."
    }
  }
}

extension ForeignFolder {
  /// For the log.
  var cause: String {
    switch self {
    case .otherFolder: "another folder is in its place"
    case .otherFileSystem: "another file system is in its place"
    }
  }
}

extension OfflineReason {
  /// For the log.
  var cause: String {
    switch self {
    case .notLookedAt: "it has not been examined yet"
    case .neverThere: "the folder does not exist"
    case .cannotBeOpened(let errorNumber): Self.cause(errorNumber)
    }
  }

  /// Only a reason in the status: there is no such warning.
  private static func unseen(_ subject: String) -> String {
    "\(subject) was offline when photod started. Its photos stay in the library, but are not available until it is back."
  }

  private static func cause(_ errorNumber: Int32) -> String {
    switch errorNumber {
    case ENOENT: "the folder does not exist: its drive is not mounted, or it was renamed"
    case ENODEV: "its drive was unmounted"
    case ETIMEDOUT: "its share does not answer"
    case EREMOTE: "a share was mounted there just now"
    case ESTALE: "another folder is in its place"
    case EEXIST: "the library has the same folder already, under another root"
    default: errorText(errorNumber)
    }
  }

  private static func remedy(_ errorNumber: Int32, _ path: String) -> String {
    guard errorNumber == ENOENT || errorNumber == ENOTDIR || errorNumber == ENODEV else { return "" }
    return
      " If it is gone for good, take it out of `roots` in the configuration, and run `systemctl --user reload photod` (or send SIGHUP). Then `photoctl rescan \(ShellWord.inQuotes(path)) --confirm` removes its photos from the library."
  }
}
