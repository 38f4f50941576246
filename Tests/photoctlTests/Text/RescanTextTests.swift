import PhotoClient
import PhotoModel
import Testing

@testable import photoctl

@Suite struct RescanTextTests {
  @Test func aDryRunPrintsHowManyWouldBeHeldBack() {
    let result = RescanResult(inserted: 0, updated: 1, removed: 1200, heldBack: 1200)
    #expect(
      RescanCommand.text(result, isDryRun: true)
        == """
        would be: 0 inserted, 1 updated, \(Text.grouped(1200)) removed
        Of these, \(Text.grouped(1200)) are missing at once. A rescan would keep them for now, and the state of \
        their folder would be suspect. `photoctl rescan --confirm` removes them.

        """)
  }

  @Test func aDryRunNamesSomeMissingPhotos() {
    func text(removed: Int, heldBack: Int? = nil, _ paths: [String]) -> String {
      RescanCommand.text(
        RescanResult(inserted: 0, updated: 0, removed: removed, heldBack: heldBack, removedExamples: paths),
        isDryRun: true)
    }
    #expect(
      text(removed: 2, ["/p/a.jpg", "/p/\u{1B}.jpg"])
        == "would be: 0 inserted, 0 updated, 2 removed\nMissing photos:\n  /p/a.jpg\n  /p/?.jpg\n")
    let many = text(removed: 1_203, heldBack: 1_203, ["/p/a.jpg", "/p/b.jpg", "/p/c.jpg"])
    #expect(
      many.hasSuffix(
        "`photoctl rescan --confirm` removes them.\nMissing photos:\n  /p/a.jpg\n  /p/b.jpg\n  /p/c.jpg\n"
          + "  and 1,200 others\n"), "\(many)")
    #expect(text(removed: 4, ["/p/a.jpg", "/p/b.jpg", "/p/c.jpg"]).hasSuffix("  and 1 other\n"))
  }

  @Test func oneHeldBackAssetIsPrintedInTheSingular() {
    let text = RescanCommand.text(RescanResult(inserted: 0, updated: 0, removed: 1, heldBack: 1), isDryRun: true)
    #expect(text.contains("Of these, 1 is missing at once."))
  }

  @Test func offlineFoldersAreNamedAsSkipped() {
    var status = LibraryStatus(state: .live, library: "l", token: "l.1.2", version: "0.1.0")
    status.roots = [.init(path: "/p", state: .online), .init(path: "/ca\u{1B}rd", state: .offline)]
    #expect(
      RescanCommand.passedOver(status, style: .plain)
        == "warning: /ca?rd is offline. It was not compared, and none of its photos was removed. `photoctl "
        + "status` has the reason and the remedy.\n")
    status.roots.removeLast()
    #expect(RescanCommand.passedOver(status, style: .plain).isEmpty)
  }

  @Test func onlyCountsArePrintedIfNothingIsHeldBack() {
    let result = RescanResult(inserted: 2, updated: 1, removed: 0)
    #expect(RescanCommand.text(result, isDryRun: true) == "would be: 2 inserted, 1 updated, 0 removed\n")
    #expect(RescanCommand.text(result, isDryRun: false) == "2 inserted, 1 updated, 0 removed\n")
  }
}
