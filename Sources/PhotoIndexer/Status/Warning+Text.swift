import Glibc
import PhotoModel
import WatchRecords

// The messages of warnings. The documentation has an entry for each; Documentation/messages compares them.
extension Warning {
  package var text: String {
    switch self {
    case .lastCommitNotRemembered(let problem):
      """
      photod can't remember the library's last commit: \(problem). An old copy of the catalog that is put back would not be \
      noticed. Make that folder yours to write, or set XDG_STATE_HOME.
      """
    case .catalogNotice(let sentence), .configuration(let sentence): sentence
    case .catalogFileRemoved(let problem):
      "The catalog's file was removed, and could not be written anew: \(problem)"
    case .catalogNotWritten(let error):
      "The catalog can't be written: \(error). Make room on its disk; photod tries again by itself."
    case .backupFailed(let problem): "The daily backup failed: \(problem) photod tries again every hour."
    case .watcherDied(let reason, let roots) where roots.isEmpty:
      "The watcher died (\(reason)); it is started again and all folders are scanned."
    case .watcherDied(let reason, let roots):
      "The watcher of \(Self.list(roots)) died (\(reason)); it is started again and the folder is scanned."
    case .queueOverflowed: "Changes came faster than the kernel could queue them; all folders are scanned again."
    case .watchesExhausted(let count, let budget):
      "\(counted(count, "folder is", "folders are")) only looked at every few seconds: \(Self.limit(budget, count)) \(Self.lateness)"
    case .noInotifyInstance(let count, let errorNumber):
      """
      \(counted(count, "folder is", "folders are")) only looked at every few seconds: the kernel gives photod no inotify instance \
      (\(errorText(errorNumber))). Programs of this user have all of them; end some. \
      \(Self.raising("fs.inotify.max_user_instances=1024")) photod tries again by itself. \(Self.lateness)
      """
    case .silentFileSystems(let count, let types):
      """
      \(counted(count, "folder is", "folders are")) only looked at every few seconds: \(count == 1 ? "it is" : "they are") on \
      \(types.joined(separator: ", ")), which does not tell what other machines or programs change in it. \(Self.lateness)
      """
    case .rootOffline(let path, let reason): reason.text(of: FilePath.text(path), at: FilePath.text(path))
    case .rootSuspect(let path, let missing, let graceSeconds):
      "\(counted(missing, "photo is", "photos are")) missing from \(FilePath.text(path)) at once; nothing was removed yet. Mount the drive if it is one, or put back what is missing; \(graceSeconds) seconds after it was missed photod scans again by itself and removes what is missing then; `photoctl rescan --confirm` does at once."
    case .rootUnconfigured(let path, isEmpty: true):
      "\(FilePath.text(path)) is configured no longer. It has no photos in the library; `photoctl rescan '\(FilePath.text(path))' --confirm` forgets it."
    case .rootUnconfigured(let path, isEmpty: false):
      "\(FilePath.text(path)) is configured no longer. Its photos stay in the library, unavailable, until you say `photoctl rescan '\(FilePath.text(path))' --confirm`."
    case .driveAway(let path):
      "\(FilePath.text(path)) is on another file system than it was: the drive that was mounted there is not, or one is mounted over what was there. Its photos stay in the library, unavailable; they are available again when it is as it was. If they are gone for good, say `photoctl rescan '\(FilePath.text(path))' --confirm`."
    case .sharesLeftOut(let first, count: 1):
      "\(FilePath.text(first)) is a share that is mounted below a folder of the library. It is left out: a share that does not answer would delay the folder. What is in the library of it stays, unavailable. To have its photos in the library, name it among the `roots` of the configuration too, and have photod read that again (SIGHUP, or `systemctl --user reload photod`)."
    case .sharesLeftOut(let first, let count):
      "\(count) shares that are mounted below folders of the library are left out, the first is \(FilePath.text(first)): a share that does not answer would delay the folder. What is in the library of them stays, unavailable. To have their photos in the library, name them among the `roots` of the configuration too, and have photod read that again (SIGHUP, or `systemctl --user reload photod`)."
    case .unreadable(let first, let errorNumber, count: 1):
      "1 folder or file can't be read: \(FilePath.text(first)) (\(errorText(errorNumber))). What is in the library of it stays. \(Self.remedy(ofUnreadable: errorNumber))"
    case .unreadable(let first, let errorNumber, let count):
      "\(count) folders or files can't be read, the first is \(FilePath.text(first)) (\(errorText(errorNumber))). What is in the library of them stays. \(Self.remedy(ofUnreadable: errorNumber))"
    case .failingFiles(let first, let reason, count: 1):
      "1 file can't be read: \(FilePath.text(first)): \(reason). It is tried again by itself; if it lasts, look at the disk."
    case .failingFiles(let first, let reason, let count):
      "\(count) files can't be read, the first is \(FilePath.text(first)): \(reason). They are tried again by themselves; if it lasts, look at the disk."
    }
  }
}

extension OfflineReason {
  /// - Parameter subject: the root's path, or a noun for it if the text around the message has the path.
  func text(of subject: String, at path: String) -> String {
    switch self {
    case .notLookedAt: Self.unseen(subject)
    case .cannotBeOpened(let errorNumber):
      "\(subject) can't be opened (\(Self.cause(errorNumber))). Its photos stay in the library, unavailable; they are available again when it is.\(Self.remedy(errorNumber, path))"
    case .otherFolder:
      "\(subject) is another folder than it was, and nothing of the library is in it: its drive is not mounted, or it was made anew. Its photos stay in the library, unavailable; they are available again when they are back. If they are gone for good, say `photoctl rescan '\(path)' --confirm`: it removes them from the library, and takes in what is there."
    case .otherFileSystem:
      "\(subject) is on another file system than it was: its drive is not mounted, or another is. Its photos stay in the library, unavailable; they are available again when it is mounted here. If you moved them here, or they are gone for good, say `photoctl rescan '\(path)' --confirm`: it takes in what is there, and removes the others from the library."
    }
  }
}

// MARK: - Parts of messages

extension Warning {
  private static func list(_ paths: [[UInt8]]) -> String { paths.map { FilePath.text($0) }.joined(separator: ", ") }

  static func remedy(ofUnreadable errorNumber: Int32) -> String {
    errorNumber == EACCES || errorNumber == EPERM
      ? "Mend the permissions, then say `photoctl rescan`."
      : "It is tried again by itself; if it lasts, look at the disk, and at `ulimit -n`."
  }

  /// photod-watch looks again at polled folders in which something changed lately, and at all of them, every so many
  /// seconds, in so far as its share of the processor allows.
  private static let lateness = """
    Photos that come or go there are seen within 2 seconds where something changed lately, else within 30; \
    photos edited in place within a minute; with very many folders later.
    """

  private static func raising(_ setting: String) -> String {
    "Raise the limit: sudo sysctl \(setting); for the next boot, too: echo \(setting) | sudo tee -a /etc/sysctl.d/60-photod.conf."
  }

  private static func limit(_ budget: WatchBudget?, _ folderCount: Int) -> String {
    guard let budget else { return "there are no more inotify watches." }
    let (watched, limit) = (Int(budget.watched), Int(budget.limit))
    // The recommended limit, with room for growth and for the share that other programs keep.
    let wanted = max(limit * 2, (watched + folderCount) * 2, 524_288)
    let name = budget.isNamespaceLimit ? "user.max_inotify_watches" : "fs.inotify.max_user_watches"
    let cause =
      budget.isRefused
      ? "photod has \(watched) inotify watches and other programs of this user the rest of the \(limit) that there are."
      : "photod has \(watched) inotify watches, all that it takes of the \(limit) that this user may have."
    return "\(cause) \(raising("\(name)=\(wanted)"))"
  }
}

extension OfflineReason {
  /// For the log.
  var cause: String {
    switch self {
    case .notLookedAt: "it was not looked at yet"
    case .cannotBeOpened(let errorNumber): Self.cause(errorNumber)
    case .otherFolder: "another folder stands in its place"
    case .otherFileSystem: "another file system stands in its place"
    }
  }

  /// Only a reason in the status: there is no such warning.
  private static func unseen(_ subject: String) -> String {
    "\(subject) was offline when photod started. Its photos stay in the library; they are available again when it is."
  }

  private static func cause(_ errorNumber: Int32) -> String {
    switch errorNumber {
    case ENOENT: "there is no such folder: its drive is not mounted, or it was renamed"
    case ENODEV: "its drive was unmounted"
    case ETIMEDOUT: "its share does not answer"
    case EREMOTE: "a share was mounted there just now"
    case ESTALE: "another folder stands in its place"
    case EEXIST: "the same folder is in the library already, under another root"
    default: errorText(errorNumber)
    }
  }

  private static func remedy(_ errorNumber: Int32, _ path: String) -> String {
    guard errorNumber == ENOENT || errorNumber == ENOTDIR || errorNumber == ENODEV else { return "" }
    return
      " If it is gone for good, take it out of `roots` in the configuration and have photod read that again (SIGHUP, or `systemctl --user reload photod`); then `photoctl rescan '\(path)' --confirm` removes its photos from the library."
  }
}

extension Suspect {
  /// The reason of the root's state in the status.
  func text(at path: String, until: String) -> String {
    "\(counted(missing, "photo is", "photos are")) missing at once; nothing was removed yet. After \(until) photod scans again by itself and removes what is missing then; `photoctl rescan '\(path)' --confirm` does at once."
  }
}
