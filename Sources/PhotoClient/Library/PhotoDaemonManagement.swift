import PhotoContract
import Varlink

/// The daemon behind a library: its clients, its events and its backups (the interface `org.photod.manage`).
///
/// It is meant for people and their tools. A program that shows photos does not need it.
///
/// ```swift
/// let daemon = PhotoDaemonManagement(of: PhotoLibrary())
/// for client in try await daemon.clients().clients { print(client.pid) }
/// ```
///
/// Every call throws ``PhotoLibraryError`` or `CancellationError`, and nothing else.
public struct PhotoDaemonManagement: Sendable {
  private let library: PhotoLibrary
  private static let interface = "org.photod.manage"

  /// Calls share the connection of the library, except those that must not be carried out twice or may take long.
  public init(of library: PhotoLibrary) { self.library = library }

  /// The clients that are connected to the daemon, the oldest connection first.
  public func clients() async throws -> ClientList {
    try await library.call("Clients", in: Self.interface, VarlinkEmpty(), returning: ClientList.self)
  }

  /// The connected clients, and again after every change, at most twice a second. It never ends by itself.
  ///
  /// - Complexity: O(n) for each list of n clients.
  public func clientUpdates() -> LibraryReplies<ClientList> {
    library.stream("Clients", in: Self.interface, VarlinkEmpty(), of: ClientList.self) { $0 }
  }

  /// The latest events that the daemon keeps (some 1,000).
  ///
  /// - Parameter follow: continues with events as they happen, and never ends by itself. The daemon queues nothing for
  ///   a reader. A slow one misses events that are no longer kept; ``/PhotoContract/EventPage/missed`` has their
  ///   number.
  /// - Complexity: O(n) for n events, of which one page is in memory.
  public func events(follow: Bool = false) -> LibraryReplies<EventPage> {
    library.stream("Events", in: Self.interface, EventsRequest(follow: follow ? true : nil), of: EventPage.self) { $0 }
  }

  /// The unreadable files and folders below the roots, by path, page by page.
  ///
  /// - Complexity: O(n) for n files, of which one page is in memory.
  public func unreadableFiles() -> LibraryReplies<[UnreadableFile]> {
    library.stream("ListUnreadable", in: Self.interface, VarlinkEmpty(), of: UnreadablePage.self) { $0.files }
  }

  /// Copies the catalog to a file and verifies the copy, while the library goes on.
  ///
  /// - Parameter path: absolute; nothing may exist there. `nil` puts the backup among the daily ones.
  /// - Throws: ``PhotoLibraryError/cannotWrite(path:message:)``, ``PhotoLibraryError/storageFull(message:)``,
  ///   ``PhotoLibraryError/busy(message:)``.
  /// - Complexity: O(n) for the n bytes of the catalog, which are copied and read again.
  public func backUp(to path: String? = nil) async throws -> BackupFile {
    try await library.callAlone("Backup", in: Self.interface, BackupRequest(path: path), returning: BackupReply.self)
      .backup
  }

  /// The backups in the daemon's own folder, newest first.
  ///
  /// - Complexity: O(n) for n backups, of which each is opened.
  public func backups() async throws -> [BackupFile] {
    try await library.call("ListBackups", in: Self.interface, VarlinkEmpty(), returning: BackupListReply.self).backups
  }

  /// Replaces the catalog with a backup, after a backup of the present state.
  ///
  /// The daemon opens the library again after its reply. Streams end, and older tokens expire.
  ///
  /// - Throws: ``PhotoLibraryError/notABackup(path:message:)`` and the errors of ``backUp(to:)``.
  /// - Complexity: O(n) for the n bytes of both catalogs, because the present one is backed up first.
  public func restore(from path: String) async throws -> RestoredBackup {
    try await library.callAlone(
      "Restore", in: Self.interface, RestoreRequest(path: path), returning: RestoredBackup.self)
  }

  /// Removes the pictures that the daemon keeps. They are made again when they are requested.
  ///
  /// - Returns: the bytes that were freed.
  /// - Complexity: O(n) for n pictures, each of which is a file.
  public func clearImages() async throws -> Int64 {
    try await library.call("ClearImages", in: Self.interface, VarlinkEmpty(), returning: ClearedImages.self).byteCount
  }

  /// Checks whether the catalog satisfies its invariants.
  ///
  /// - Parameter deep: also compares every index with its table, which reads the whole file.
  /// - Complexity: O(n) for the n bytes of the catalog.
  public func check(deep: Bool = false) async throws -> CatalogCheck {
    try await library.callAlone(
      "Check", in: Self.interface, CheckRequest(deep: deep ? true : nil), returning: CatalogCheck.self)
  }
}
