import PhotoModel

// Messages to the user about an opening.
extension CatalogOpening {
  /// Adds a notice that says whether the user data survived, and which backup could be restored.
  mutating func noteRebuild(_ contents: UserDataContents?) {
    let count = contents?.entries.count ?? 0
    let isAllThere = contents?.isDamaged == false
    if damage == nil, let aside = files.catalogOfUnfinishedOpening {
      damage = ("an earlier start found this", aside)
    }
    // This is the first start, or there was no user data before the catalog was lost.
    guard damage != nil || count > 0 || (!isAllThere && (contents != nil || files.newestBackup != nil)) else { return }
    var fate =
      switch (count, contents) {
      case (0, nil): "Your favorites, albums and edits are not in it, because there was no journal of user data."
      case (0, _) where isAllThere: "No user data is lost: the journal of user data is empty."
      case (0, _):
        "Your favorites, albums and edits are not in it, because nothing could be read from the journal of user data."
      default:
        "The user data of \(counted(count, "photo", "photos")) comes back from the journal as photod finds the files."
      }
    if !isAllThere {
      fate +=
        files.newestBackup.map {
          " The newest backup is \($0); `photoctl restore \(ShellWord.inQuotes($0))` restores it."
        }
        ?? " There is no backup."
    }
    if let damage {
      notices.append(
        (
          "The catalog was damaged (\(damage.why)), and photod has made a new one. \(fate) The damaged one is "
            + "\(damage.aside ?? "gone"). \(Catalog.remedyOfNotices)", damage.aside
        ))
    } else {
      notices.append(
        (
          "The catalog was gone, and photod has made a new one. \(fate) \(Catalog.remedyOfNotices)", nil
        ))
    }
  }

  mutating func keepDamagedJournal(_ contents: UserDataContents) throws {
    let aside = try files.keepJournal(because: "damaged", date: date)
    keptJournals.append(aside)
    notices.append(
      (
        "The journal of user data was damaged. "
          + (contents.readableLineCount == 0 ? "Nothing of it could be read." : "photod has used its readable part.")
          + " The damaged one is \(aside).", aside
      ))
  }
}
