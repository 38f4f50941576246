import PhotoModel

// Messages to the user about an opening.
extension CatalogOpening {
  /// Adds a notice that says whether the user data survived, and which backup could be restored.
  mutating func noteRebuild(_ contents: UserDataContents?) {
    let count = contents?.entries.count ?? 0
    let isAllThere = contents?.isDamaged == false
    if damage == nil, let aside = files.catalogOfUnfinishedOpening {
      damage = ("an opening that failed has found so", aside)
    }
    // This is the first start, or there was no user data before the catalog was lost.
    guard damage != nil || count > 0 || (!isAllThere && (contents != nil || files.newestBackup != nil)) else { return }
    var fate =
      switch (count, contents) {
      case (0, nil): "what you typed is not in it, as there was no journal of user data."
      case (0, _) where isAllThere: "nothing that you typed is lost: the journal of user data holds nothing."
      case (0, _): "what you typed is not in it, as nothing of it could be read from the journal."
      default: "what you typed for \(counted(count, "photo", "photos")) comes back from the journal as files are found."
      }
    if !isAllThere {
      fate +=
        files.newestBackup.map { " The newest backup is \($0); `photoctl restore '\($0)'` goes back to it." }
        ?? " There is no backup."
    }
    if let damage {
      notices.append(
        (
          "The catalog was damaged (\(damage.why)) and was made anew; \(fate) The damaged one is \(damage.aside ?? "gone"). "
            + "`photoctl check` acknowledges this.", damage.aside
        ))
    } else {
      notices.append(("The catalog was gone and was made anew; \(fate) `photoctl check` acknowledges this.", nil))
    }
  }

  mutating func keepDamagedJournal(_ contents: UserDataContents) throws {
    let aside = try files.keepJournal(because: "damaged", date: date)
    keptJournals.append(aside)
    notices.append(
      (
        "The journal of user data was damaged; "
          + (contents.readableLineCount == 0 ? "nothing of it could be read." : "what could be read of it was used.")
          + " The damaged one is \(aside).", aside
      ))
  }
}
