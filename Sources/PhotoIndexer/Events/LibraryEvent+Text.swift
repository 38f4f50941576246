import PhotoContract
import PhotoModel
import SystemErrors
import WatchRecords

// The text of an event, which is made on request.
extension LibraryEvent {
  package var source: DaemonEvent.Source {
    switch fact {
    case .watcherStarted, .watcherDied, .scanStarted, .fileSeen, .fileMoved, .fileGone, .folderSeen, .folderMoved,
      .folderGone, .listed, .unreadable, .rootOffline, .overflow, .polling:
      .watch
    case .inserted, .updated, .renamed, .folderRenamed, .removed, .folderRemoved, .ignored, .deferred, .damaged,
      .scanDecided, .braked, .committed, .startedOver:
      .library
    }
  }

  package var kind: DaemonEvent.Kind {
    switch fact {
    case .watcherStarted: .watcherStarted
    case .watcherDied: .watcherDied
    case .scanStarted: .scanStarted
    case .fileSeen: .fileSeen
    case .fileMoved: .fileMoved
    case .fileGone: .fileGone
    case .folderSeen: .folderSeen
    case .folderMoved: .folderMoved
    case .folderGone: .folderGone
    case .listed: .listed
    case .unreadable: .unreadable
    case .rootOffline: .offline
    case .overflow: .overflow
    case .polling: .watchLimit
    case .inserted: .inserted
    case .updated: .updated
    case .renamed, .folderRenamed: .renamed
    case .removed, .folderRemoved: .removed
    case .ignored: .ignored
    case .deferred: .deferred
    case .damaged: .damaged
    case .scanDecided: .scanEnded
    case .braked: .suspect
    case .committed: .committed
    case .startedOver: .startedOver
    }
  }

  /// The path of the event. For a move it is the new path.
  package var path: String? {
    switch fact {
    case .fileSeen(let place, _), .fileMoved(_, let place), .fileGone(let place), .folderSeen(let place),
      .folderMoved(_, let place), .folderGone(let place, _), .listed(let place, _, _), .unreadable(let place, _),
      .inserted(let place, _), .updated(let place, _, _), .renamed(_, let place, _), .removed(let place, _),
      .folderRemoved(let place, _), .ignored(let place, _, _), .deferred(let place, _, _), .damaged(let place, _, _):
      place.path
    case .scanStarted(let path, _), .rootOffline(let path, _), .folderRenamed(_, let path),
      .scanDecided(let path, _, _), .braked(let path, _), .polling(let path, _, _, _):
      FilePath.text(path)
    case .watcherStarted, .watcherDied, .overflow, .committed, .startedOver: nil
    }
  }

  /// The former path of a move.
  package var fromPath: String? {
    switch fact {
    case .fileMoved(let place, _): place?.path
    case .folderMoved(let place, _), .renamed(let place, _, _): place.path
    case .folderRenamed(let path, _): FilePath.text(path)
    default: nil
    }
  }

  package var assetID: AssetID? {
    switch fact {
    case .inserted(_, let id), .updated(_, let id, _), .renamed(_, _, let id), .removed(_, let id),
      .deferred(_, let id, _), .damaged(_, let id, _):
      id
    case .ignored(_, let id, _): id
    default: nil
    }
  }

  /// One line for a person, without the path and the asset.
  package var detail: String {
    switch fact {
    case .watcherStarted(let session): "photod-watch started for the \(Self.ordinal(session)) time"
    case .watcherDied(let reason): "photod-watch died: \(reason)"
    case .scanStarted(_, let reason): Self.text(reason)
    case .fileSeen(_, let byteCount): "created or written, \(counted(byteCount, "byte", "bytes"))"
    case .fileMoved(let from, _): from == nil ? "moved in from an unknown folder" : "moved"
    case .fileGone: "removed, or replaced by something else than a file"
    case .folderSeen: "a new folder"
    case .folderMoved: "the folder moved with its content"
    case .folderGone(_, .event): "the folder was removed with its content"
    case .folderGone(_, .scan): "a listing does not have this folder; a scan decides whether it is gone"
    case .listed(_, let evidence, let counts):
      Self.text(counts) + (evidence == .scan ? " (scan)" : " (new or uncertain)")
    case .unreadable(_, let code): "can't be read: \(errorText(code))"
    case .rootOffline(_, let code): "can't be opened: \(errorText(code))"
    case .overflow: "the kernel's queue overflowed and events were lost; all folders are scanned"
    case .polling(_, let reason, let polled, let directories):
      "\(grouped(polled)) of \(counted(directories, "folder", "folders")) \(polled == 1 ? "is" : "are") polled: \(Self.text(reason))"
    case .inserted: "new"
    case .updated(_, _, let fields):
      // A file that was only touched has the field content, too.
      "differs in \(fields.names.map { $0 == "content" ? "content or file time" : $0 }.joined(separator: ", "))"
    case .renamed: "the same photo in another place"
    case .folderRenamed: "the same folder in another place"
    case .removed: "removed from the library"
    case .folderRemoved(_, let count): "removed from the library with \(counted(count, "asset", "assets"))"
    case .ignored(_, _, let reason): "nothing to do: \(Self.text(reason))"
    case .deferred(_, _, let reason): "examined again soon: \(Self.text(reason))"
    case .damaged(_, _, let failure): "its content can't be read: \(failure)"
    case .scanDecided(_, let removed, true): "the scan is complete; \(grouped(removed)) removed"
    case .scanDecided(_, _, false): "the scan is incomplete; nothing is removed"
    case .braked(_, let missing):
      "\(grouped(missing)) missing at once; nothing is removed until a later scan or a person confirms it"
    case .committed(let sequence, let origin, let counts): "\(sequence) by \(origin): \(Self.text(counts))"
    case .startedOver(let error): "the catalog can't be written; all folders will be scanned again: \(error)"
    }
  }

  /// `1st`, `2nd`, `3rd`, `11th`
  private static func ordinal(_ number: Int) -> String {
    let ending =
      switch (number % 100, number % 10) {
      case (11...13, _): "th"
      case (_, 1): "st"
      case (_, 2): "nd"
      case (_, 3): "rd"
      default: "th"
      }
    return "\(number)\(ending)"
  }

  private static func text(_ reason: ScanReason) -> String {
    switch reason {
    case .start: "the first scan of this photod-watch"
    case .overflow: "because events were lost"
    case .rescan: "because a rescan was requested"
    case .rootReturned: "because the folder is back"
    case .rules: "because the patterns of ignored names changed"
    }
  }

  private static func text(_ reason: PollingReason) -> String {
    switch reason {
    case .watchLimit: "there are no more inotify watches"
    case .noInstance: "there is no inotify instance"
    case .fileSystem(let name): "\(String(decoding: name, as: UTF8.self)) does not report changes by others"
    case .refused: "the kernel lets photod read the folder, but not watch it"
    }
  }

  private static func text(_ reason: Reason) -> String {
    switch reason {
    case .sameStat: "size, times and inode have not changed"
    case .sameContent: "its content was read, and has the same metadata"
    case .empty: "it is empty"
    case .raced: "it changed or moved meanwhile"
    }
  }

  private static func text(_ counts: ListingCounts) -> String {
    let parts = [
      (counts.inserted, "new"), (counts.updated, "changed"), (counts.renamed, "moved here"),
      (counts.deferred, "deferred"), (counts.damaged, "damaged"), (counts.missing, "missing"),
    ]
    return ([counted(counts.found, "file", "files")] + parts.filter { $0.0 > 0 }.map { "\(grouped($0.0)) \($0.1)" })
      .joined(
        separator: ", ")
  }

  private static func text(_ counts: CommitCounts) -> String {
    let parts = [
      (counts.inserted, "inserted"), (counts.updated, "updated"), (counts.deleted, "deleted"),
      (counts.folders, counts.folders == 1 ? "folder renamed" : "folders renamed"),
      (counts.roots, counts.roots == 1 ? "root online or offline" : "roots online or offline"),
    ].filter { $0.0 > 0 }
    return parts.isEmpty ? "albums only" : parts.map { "\(grouped($0.0)) \($0.1)" }.joined(separator: ", ")
  }
}
