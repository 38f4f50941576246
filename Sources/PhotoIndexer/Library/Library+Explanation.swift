import Glibc
import PhotoCatalog
import PhotoModel
import SystemErrors
import WatchRecords

/// Why a path is, or is not, in the library.
package struct Explanation: Sendable, Equatable {
  /// indexed, unreadable, pending, offline, ignored, empty, notMedia, missing, outside
  package var state: String
  package var reason: String
  package var assetID: AssetID?
}

extension Library {
  /// Always answers, also for a path outside every root.
  package func explain(path: [UInt8]) throws -> Explanation {
    guard let rootID = rootID(containing: path), let rootPath = reconciler.tree.rootPaths[rootID] else {
      let roots = reconciler.tree.rootPaths.values.map { FilePath.text($0) }.sorted().joined(separator: ", ")
      return Explanation(
        state: "outside",
        reason:
          "It is in none of the library's folders (\(roots)). To index it, add its folder to `roots` in the configuration."
      )
    }
    if let slash = path.lastIndex(of: UInt8(ascii: "/")),
      let directory = reconciler.tree.directory(path: Array(path[..<slash])),
      let row = try catalog.read({ try $0.file(directory, Array(path[(slash + 1)...])) })
    {
      return try explain(row, path: path, rootID: rootID)
    }
    if let share = leftOutShare(of: path) {
      return Explanation(
        state: "outside",
        reason:
          "\(FilePath.text(share)) is a share that is mounted below a folder of the library, and is left out. To index it, add it to `roots` in the configuration."
      )
    }
    if !files.answers(rootPath) {
      return reconciler.roots[rootID]?.isUnconfigured == true
        ? explainUnconfigured(rootPath) : explainSilence(of: rootPath)
    }
    if let explanation = explainUnreadable(path, rootID: rootID) { return explanation }
    let obstacle = obstacle(on: path, ofRoot: rootID, rootPath)
    if let directory = reconciler.tree.directory(path: path) {
      if let obstacle { return Explanation(state: "ignored", reason: obstacle) }
      let isTop = reconciler.tree.row(directory).parentID == nil
      return Explanation(
        state: "indexed",
        reason: isTop ? "It is a folder of the library." : "It is a folder in \(FilePath.text(rootPath)).")
    }
    if reconciler.roots[rootID]?.isUnconfigured == true { return explainUnconfigured(rootPath) }
    if let explanation = explainAbsence(ofRoot: rootID, rootPath) { return explanation }
    if let obstacle { return Explanation(state: "ignored", reason: obstacle) }
    guard let stat = files.stat(path) else { return explainNoFile(path) }
    let name = Array(path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...])
    if MediaFormat.promised(byName: name) == nil {
      return Explanation(
        state: "notMedia",
        reason: Self.reason(ofEndingIn: name))
    }
    if stat.byteCount == 0 {
      return Explanation(state: "empty", reason: "It is empty. photod adds it as soon as it has content.")
    }
    return explainPending("It")
  }

  /// The names are too many for a message, so it names the groups.
  private static func reason(ofEndingIn name: [UInt8]) -> String {
    let text = FilePath.nameText(name)
    let dot = text.lastIndex(of: ".").flatMap { $0 == text.startIndex ? nil : $0 }
    return (dot.map { "Names that end with \(text[$0...]) are not those" } ?? "A name without an extension is not that")
      + " of photos or videos. photod indexes pictures (such as .jpg, .heic, .png and .tif), RAW files of cameras "
      + "(such as .dng, .cr3, .nef and .arw), and videos (such as .mov and .mp4). `photoctl help why` lists all extensions."
  }

  /// - Parameter subject: the path, or a noun for it.
  private func explainPending(_ subject: String) -> Explanation {
    if let breakdown = restart.breakdown {
      return Explanation(
        state: "pending",
        reason:
          "\(subject) is not in the library yet, because the catalog can't be written: \(breakdown.problem.text)"
      )
    }
    return Explanation(
      state: "pending",
      reason:
        "\(subject) is not in the library yet: a scan or an event for it is pending. `photoctl sync` waits for it.")
  }

  /// Nil if the root is there.
  private func explainAbsence(ofRoot rootID: RootID, _ root: [UInt8]) -> Explanation? {
    let path = FilePath.text(root)
    guard let root = reconciler.roots[rootID] else { return nil }
    switch root.presence {
    case .online, .suspect, nil: return nil
    case .foreign(_, let folder): return Explanation(state: "offline", reason: folder.text(of: path, at: path))
    case .offline(_, let reason):
      let reason = known(reason, of: root)
      return Explanation(
        state: reason == .neverThere ? "missing" : "offline", reason: reason.text(of: path, at: path))
    }
  }

  private func explainUnconfigured(_ root: [UInt8]) -> Explanation {
    Explanation(
      state: "offline",
      reason:
        "\(FilePath.text(root)) is no longer in the configuration. Its photos stay in the library, but photod adds no new ones."
    )
  }

  private func explainSilence(of root: [UInt8]) -> Explanation {
    Explanation(
      state: "offline",
      reason:
        "\(FilePath.text(root)) is on a share that does not answer. Its photos stay in the library. photod scans it when it answers again."
    )
  }

  /// A path that can't be looked at, or that is in such a folder. Nothing of it is known but what the library has.
  private func explainUnreadable(_ path: [UInt8], rootID: RootID, assetID: AssetID? = nil) -> Explanation? {
    guard reconciler.roots[rootID]?.isAvailable == true, let entry = problems.unreadable.entry(hiding: path),
      entry.errorNumber != EREMOTE
    else { return nil }
    let place = "\(FilePath.text(entry.path)) can't be read: \(errorText(entry.errorNumber))."
    return Explanation(
      state: "unreadable",
      reason: assetID == nil
        ? "\(place) Its data in the library is kept. \(Warning.remedy(ofUnreadable: entry.errorNumber))"
        : "It is in the library, and its data is kept. \(place) \(Warning.remedy(ofUnreadable: entry.errorNumber))",
      assetID: assetID)
  }

  /// Explains a path in a root that is neither a regular file nor a folder of the catalog.
  private func explainNoFile(_ path: [UInt8]) -> Explanation {
    let text = FilePath.text(path)
    if case .unknown = files.look(path) {
      return Explanation(
        state: "unreadable",
        reason: "\(text) can't be examined. Its data in the library is kept. Correct the permissions of its folders.")
    }
    if files.isFolder(path) {
      return explainPending("The folder")
    }
    if files.exists(path) {
      return Explanation(
        state: "notMedia", reason: "\(text) is no regular file. photod never opens pipes, sockets and devices.")
    }
    return Explanation(state: "missing", reason: "There is no file \(text).")
  }

  private func explain(_ row: FileRow, path: [UInt8], rootID: RootID) throws -> Explanation {
    let content = try catalog.read { try $0.content(of: row.assetID) }
    // This comes before other problems, because a person can act on it.
    if reconciler.roots[rootID]?.isAvailable == false || !reconciler.tree.isMounted(row.directoryID) {
      let failure = row.readTime == .unknown ? nil : content?.failure
      let damage = failure.map { " photod could not read its content: \($0)." } ?? ""
      let place = reconciler.tree.rootPaths[rootID].map { FilePath.text($0) } ?? "its folder"
      return Explanation(
        state: "offline",
        reason: reconciler.roots[rootID]?.isUnconfigured == true
          ? "It is in the library, but \(place) is no longer in the configuration. Add it to `roots` again, and the photo is available.\(damage)"
          : "It is in the library, but its folder is offline, or its drive is not mounted.\(damage)",
        assetID: row.assetID)
    }
    if let explanation = explainUnreadable(path, rootID: rootID, assetID: row.assetID) { return explanation }
    if row.readTime == .unknown, let failure = reconciler.retries[row.assetID]?.failure {
      return Explanation(
        state: "unreadable",
        reason:
          "It is in the library, but its content can't be read now: \(failure.reason). photod tries again by itself.",
        assetID: row.assetID)
    }
    if row.readTime == .unknown {
      return Explanation(
        state: "pending", reason: "It is in the library, but photod has not read its content yet.", assetID: row.assetID
      )
    }
    if let failure = content?.failure {
      return Explanation(
        state: "unreadable",
        reason: ForbiddenFile.isFailure(failure)
          ? "It is in the library, but it \(failure). \(Warning.remedy(ofUnreadable: EACCES))"
          : "It is in the library, but its content could not be read: \(failure).",
        assetID: row.assetID)
    }
    if let suspect = reconciler.roots[rootID]?.suspect, reconciler.current(row) == nil {
      return Explanation(
        state: "missing",
        reason:
          "It is in the library, but not on disk. \(counted(suspect.missing, "photo is", "photos are")) missing from its folder at once, so photod has not removed it. After \(end(of: suspect).localTimeToMinute), photod scans again and removes it if it is still missing. `photoctl rescan \(ShellWord.inQuotes(FilePath.text(reconciler.tree.rootPaths[rootID] ?? []))) --confirm` removes it now.",
        assetID: row.assetID)
    }
    let isHidden = try catalog.read { try $0.assets([row.assetID]) }.assets.first?.isHidden == true
    let hiding =
      isHidden ? " It is hidden, so lists leave it out. `photoctl unhide \(row.assetID)` makes it visible again." : ""
    return Explanation(
      state: "indexed", reason: "It is in the library as \(content?.contentType ?? "a file").\(hiding)",
      assetID: row.assetID)
  }

  /// The first reason on the way down a path why photod does not index what is there: a symbolic link, or a rule.
  ///
  /// The folders of the library are no links, match no rule, and none but the last can hold a marker. So the disk is
  /// looked at only from there on.
  private func obstacle(on path: [UInt8], ofRoot rootID: RootID, _ root: [UInt8]) -> String? {
    let rules = WatchRules.nameRules(ignoring: configuration.ignore)
    let names = path[root.count...].split(separator: UInt8(ascii: "/"))
    let known = max(0, reconciler.tree.folders(on: path, ofRoot: rootID).count - 1)
    var end = known == 0 ? root.count : names[known - 1].endIndex
    var place = NameRules.Folder(root: root, components: Array(names[..<known]))
    var folder: (any FolderOnPath)? = files.folder(Array(path[..<end]), toward: path)
    for (depth, part) in names.enumerated().dropFirst(known) {
      if let marker = folder?.marker() { return reason(marker, in: path[..<end]) }
      let name = Array(part)
      let kind = folder?.kind(of: name)
      end = part.endIndex
      if kind == .link {
        return
          "\(FilePath.text(Array(path[..<end]))) is a symbolic link, and photod follows no links. Use the path of its target, if that is in one of the library's folders."
      }
      if name.first == UInt8(ascii: ".") { return "\(FilePath.nameText(name)) is hidden: its name begins with a dot." }
      let isFolder = depth + 1 < names.count || kind == .folder
      if isFolder, !rules.wantsDirectory(name) {
        return "\(FilePath.nameText(name)) is a folder that programs keep beside photos. photod ignores it."
      }
      if let builtIn = BuiltInPattern.ignoring(name, isDirectory: isFolder) { return reason(builtIn, ignoring: name) }
      if let pattern = rules.pattern(ignoring: name, isDirectory: isFolder, in: place) {
        return "It is ignored by the pattern \(String(decoding: pattern.text, as: UTF8.self)) of the configuration."
      }
      place.append(part)
      // Below the first name that is no folder on the disk, only the rules about names hold.
      if kind == .folder { folder?.enter(name) } else { folder = nil }
    }
    // If the path is a folder, it may hold a marker itself.
    return folder?.marker().map { reason($0, in: path[..<end]) }
  }

  private func reason(_ builtIn: BuiltInPattern, ignoring name: [UInt8]) -> String {
    let subject =
      switch builtIn.origin {
      case .syncConflict: "\(FilePath.nameText(name)) is a conflict copy of a sync program."
      case .photoApplication: "\(FilePath.nameText(name)) belongs to a photo application."
      }
    let pattern = String(decoding: builtIn.pattern.text, as: UTF8.self)
    return "\(subject) photod ignores it by its built-in pattern \(pattern)."
  }

  private func reason(_ marker: [UInt8], in folder: ArraySlice<UInt8>) -> String {
    "\(FilePath.text(Array(folder))) contains \(FilePath.nameText(marker)), so media programs ignore it."
  }
}
