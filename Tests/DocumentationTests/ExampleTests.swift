import Foundation
import PhotoClient
import Testing

struct ExampleTests {
  private let before: [AssetID] = [90, 80, 70, 60, 50, 40]
  private let after: [AssetID] = [95, 90, 50, 70, 60, 40]

  private func example() throws -> FetchResultChangeDetails {
    let listing = try #require(try Articles.listings("json", in: "ChangeDetails").first)
    return try JSONDecoder().decode(FetchResultChangeDetails.self, from: Data(listing.utf8))
  }

  @Test func exampleEqualsTheComputedDetails() throws {
    let touched = TouchedAssets(fields: [50: .metadata, 40: .favorite], deleted: [80])
    #expect(try FetchResultChangeDetails.full(from: before, to: after, touched: touched) == example())
    let article = try Articles.text("ChangeDetails")
    #expect(article.contains("`\(ListDigest(of: after))`"))
    #expect(article.contains("| before | \(before.map(String.init).joined(separator: " | ")) |"))
    #expect(article.contains("| after | \(after.map(String.init).joined(separator: " | ")) |"))
  }

  @Test func exampleIsAppliedAsTheArticleSays() throws {
    let details = try example()
    #expect(try details.applied(to: before) == after)
    let edits = try details.listModelEdits().map { "(\($0.position), \($0.removed), \($0.added))" }
    #expect(try Articles.text("ChangeDetails").contains(": \(edits.joined(separator: ", ")). No id"))
    var list = before
    try details.applySequentially(to: &list)
    #expect(list == after)
  }

  @Test(.enabled(if: ProgramRun.find("python3") != nil, "python3 is not installed"))
  func pythonOfTheArticleAppliesDetails() throws {
    let listing = try #require(
      try Articles.listings("python", in: "GettingStartedInOtherLanguages").last { $0.contains("def applied") })
    struct Case: Encodable {
      let before: [AssetID]
      let after: [AssetID]
      let details: FetchResultChangeDetails
      let digest: String
    }
    var cases = [Case(before: before, after: after, details: try example(), digest: "\(ListDigest(of: after))")]
    for _ in 0..<200 {
      let ids = Array(AssetID(1)...12).shuffled()
      let (old, new) = (Array(ids.prefix(.random(in: 0...12))), Array(ids.shuffled().prefix(.random(in: 0...12))))
      guard let details = FetchResultChangeDetails.full(from: old, to: new, touched: TouchedAssets()) else { continue }
      cases.append(Case(before: old, after: new, details: details, digest: "\(ListDigest(of: new))"))
    }
    // Two random lists are rarely equal.
    #expect(cases.count > 150)
    let program =
      listing + """

        import json, sys
        for case in json.load(sys.stdin):
            after = applied(case["before"], case["details"])
            assert after == case["after"], case
            assert digest(after) == case["digest"], case
        print("all applied")

        """
    let run = try ProgramRun(
      try #require(ProgramRun.find("python3")), ["-c", program],
      input: String(decoding: try JSONEncoder().encode(cases), as: UTF8.self))
    #expect(run.status == 0 && run.output == "all applied\n", "\(run.output)")
  }

  @Test(.enabled(if: ProgramRun.find("python3") != nil, "python3 is not installed"))
  func pythonOfTheArticlesIsPython() throws {
    let python = try #require(ProgramRun.find("python3"))
    let listings = try Articles.listings("python", in: "GettingStartedInOtherLanguages")
    #expect(!listings.isEmpty)
    for listing in listings {
      let run = try ProgramRun(python, ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], input: listing)
      #expect(run.status == 0, "\(run.output)")
    }
  }

  @Test func theAppInTenMinutesIsTheExampleThatIsTested() throws {
    let file = Articles.package.appending(path: "Examples/Gallery/Gallery.swift")
    #expect(try Articles.listings("swift", in: "AppInTenMinutes") == [String(contentsOf: file, encoding: .utf8)])
  }

  @Test func theArticleNamesTheExamplesThatExist() throws {
    let manifest = try String(contentsOf: Articles.package.appending(path: "Package.swift"), encoding: .utf8)
    let targets = manifest.matches(of: /executableTarget\(name: "(\w+Example)"/).map { String($0.1) }
    let article = try Articles.text("AppInTenMinutes")
    #expect(targets.count == 6)
    for target in targets { #expect(article.contains("`\(target)`") || target == "GalleryExample") }
  }

  @Test(arguments: [
    "PHPhotoLibrary", "PHAsset", "PHAssetCollection", "PHCollection", "PHCollectionList", "PHFetchOptions",
    "PHFetchResult", "PHChange", "PHObjectChangeDetails", "PHFetchResultChangeDetails", "PHPersistentChangeToken",
    "PHPersistentChange", "PHPersistentChangeFetchResult", "PHPersistentObjectChangeDetails", "PHAssetChangeRequest",
    "PHAssetCreationRequest", "PHAssetResourceCreationOptions", "PHAssetCollectionChangeRequest",
    "PHCollectionListChangeRequest", "PHObjectPlaceholder", "PHAssetResource", "PHAssetResourceManager",
    "PHAssetResourceRequestOptions", "PHImageManager", "PHImageRequestOptions", "PHImageRequestID",
    "PHImageRequestOptionsVersion", "PHImageRequestOptionsDeliveryMode", "PHImageRequestOptionsResizeMode",
    "PHCollectionListType", "PHCollectionListSubtype", "PHVideoRequestOptions", "PHCachingImageManager", "PHLivePhoto",
    "PHLivePhotoRequestOptions", "PHLivePhotoView",
    "PHLivePhotoEditingContext", "PHContentEditingInput", "PHContentEditingInputRequestOptions",
    "PHContentEditingOutput", "PHAdjustmentData", "PHAuthorizationStatus", "PHAccessLevel", "PHPickerViewController",
    "PHCloudIdentifier", "PHCloudIdentifierMapping", "PHLocalIdentifierMapping", "PHPhotosError",
  ])
  func tableHasTheClassOfPhotoKit(_ name: String) throws {
    #expect(try Self.wordsOfPhotoKit().contains(name))
  }

  /// The calls and properties of each class, with the names that they have in Swift.
  @Test(arguments: [
    "shared authorizationStatus requestAuthorization presentLimitedLibraryPicker performChanges performChangesAndWait",
    "register unregisterChangeObserver unavailabilityReason cloudIdentifierMappings localIdentifierMappings stringValue",
    "localIdentifier mediaType mediaSubtypes creationDate modificationDate addedDate pixelWidth pixelHeight duration",
    "location isFavorite isHidden burstIdentifier representsBurst burstSelectionTypes sourceType playbackStyle",
    "hasAdjustments adjustmentFormatIdentifier canPerform fetchAssets fetchKeyAssets withLocalIdentifiers",
    "withBurstIdentifier withALAssetURLs canContainAssets canContainCollections localizedTitle estimatedAssetCount",
    "startDate endDate approximateLocation localizedLocationNames assetCollectionType assetCollectionSubtype",
    "collectionListType collectionListSubtype fetchAssetCollections fetchAssetCollectionsContaining fetchCollections",
    "fetchCollectionLists fetchCollectionListsContaining fetchTopLevelUserCollections fetchMoments fetchMomentLists",
    "withALAssetGroupURLs transientAssetCollection transientCollectionList",
    "predicate sortDescriptors fetchLimit includeHiddenAssets includeAllBurstAssets includeAssetSourceTypes",
    "wantsIncrementalChangeDetails count object objects firstObject lastObject contains index enumerateObjects",
    "countOfAssets changeDetails objectBeforeChanges objectAfterChanges assetContentChanged objectWasDeleted",
    "fetchResultBeforeChanges fetchResultAfterChanges hasIncrementalChanges removedIndexes removedObjects",
    "insertedIndexes insertedObjects changedIndexes changedObjects hasMoves enumerateMoves currentChangeToken",
    "fetchPersistentChanges enumerateChanges changeToken insertedLocalIdentifiers updatedLocalIdentifiers",
    "deletedLocalIdentifiers creationRequestForAsset creationRequestForAssetFromImage",
    "creationRequestForAssetFromVideo placeholderForCreatedAsset deleteAssets revertAssetContentToOriginal",
    "contentEditingOutput forAsset addResource supportsAssetResourceTypes creationRequestForAssetCollection",
    "placeholderForCreatedAssetCollection title addAssets insertAssets removeAssets replaceAssets moveAssets",
    "deleteAssetCollections creationRequestForCollectionList placeholderForCreatedCollectionList",
    "addChildCollections insertChildCollections removeChildCollections replaceChildCollections moveChildCollections",
    "deleteCollectionLists type assetLocalIdentifier originalFilename uniformTypeIdentifier assetResources requestData",
    "writeData cancelDataRequest requestImage requestImageDataAndOrientation requestLivePhoto requestPlayerItem",
    "requestAVAsset requestExportSession cancelImageRequest version deliveryMode resizeMode normalizedCropRect",
    "isNetworkAccessAllowed isSynchronous progressHandler allowSecondaryDegradedImage allowsCachingHighQualityImages",
    "startCachingImages stopCachingImages stopCachingImagesForAllAssets request cancelRequest startPlayback",
    "stopPlayback requestContentEditingInput cancelContentEditingInputRequest renderedContentURL formatIdentifier",
    "formatVersion data fullSizeImageURL fullSizeImageOrientation displaySizeImage audiovisualAsset adjustmentData",
    "canHandleAdjustmentData defaultRenderedContentType supportedRenderedContentTypes livePhoto isMuted",
    "opportunistic highQualityFormat fastFormat none fast exact current unadjusted original folder smartFolder",
  ])
  func tableHasTheCallsOfPhotoKit(_ names: String) throws {
    let known = try Self.wordsOfPhotoKit()
    for name in names.split(separator: " ") { #expect(known.contains(String(name)), "\(name)") }
  }

  @Test func everyRowOfTheTableSaysWhatDiffers() throws {
    for row in try Self.rowsOfPhotoKit() {
      let cells = row.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
      #expect(cells.count == 3 && cells.allSatisfy { $0.contains { $0 != " " } }, "\(row)")
    }
  }

  /// The code in the column of PhotoClient that is Swift's own, or the value of a field.
  private static let foreignNames: Set<String> = [
    "first { $0.id == id }", "filter", "sorted(by:)", "for try await", "CollectionDifference", "CancellationError",
    "RangeSet<Int>", "targetSize: nil", "favorites", "recents", "videos",
  ]

  /// The column of PhotoClient names only what exists, and so do the calls in the column of differences.
  @Test func namesOfPhotoClientInTheTableExist() throws {
    let symbols = try PublicNames()
    var names: Set<String> = []
    for row in try Self.rowsOfPhotoKit() where !row.hasPrefix("| PhotoKit ") {
      let cells = row.split(separator: "|")
      try #require(cells.count == 3, "\(row)")
      for (column, cell) in cells.dropFirst().enumerated() {
        let found = cell.matches(of: /`([^`]+)`/).map { String($0.1) }
        names.formUnion(column == 0 ? found : found.filter { $0.contains("(") })
      }
    }
    names.subtract(Self.foreignNames)
    #expect(names.count > 150)
    #expect(names.filter { !symbols.have($0) }.sorted() == [])
    let wrong = ["fetchAsset(in:with:)", "fetchAssets(inside:)", "Asset.identity", "Change.before", "isFavourite"]
    #expect(wrong.filter(symbols.have) == [])
  }

  private static func rowsOfPhotoKit() throws -> [Substring] {
    try Articles.text("PhotoKit").split(separator: "\n").filter { $0.hasPrefix("| ") }
  }

  /// The names in the column of PhotoKit.
  private static func wordsOfPhotoKit() throws -> Set<String> {
    try Set(
      rowsOfPhotoKit().flatMap { row in
        row.split(separator: "|")[0].split { !$0.isLetter }.map(String.init)
      })
  }

  /// Snippets.swift contains the same lines, and it is compiled.
  @Test func swiftOfTheArticlesIsCompiled() throws {
    let file = Articles.package.appending(path: "Tests/DocumentationTests/Snippets.swift")
    let compiled = Self.trimmed(try String(contentsOf: file, encoding: .utf8))
    let listings = try Articles.listings("swift", in: "GettingStarted")
    #expect(!listings.isEmpty)
    for listing in listings {
      #expect(compiled.contains(Self.trimmed(listing)), "\(listing)")
    }
  }

  /// The text without its indentation, which differs.
  private static func trimmed(_ text: String) -> String {
    text.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
  }
}

/// The names in the committed list of public symbols.
private struct PublicNames {
  private struct Symbol {
    /// The names of the types, and that of the member.
    let path: [Substring]
    let labels: [Substring]
  }

  /// By the last name of their paths.
  private var symbols: [Substring: [Symbol]] = [:]
  /// All words of the declarations, such as the labels of parameters.
  private var words: Set<Substring> = []

  init() throws {
    let list = try String(
      contentsOf: Articles.package.appending(path: "Documentation/public-symbols.txt"), encoding: .utf8)
    for line in list.split(separator: "\n") {
      words.formUnion(line.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
      guard let match = line.prefixMatch(of: #/\w+\.([\w.]+)(?:\(([^)]*)\))?: /#) else { continue }
      var path = match.1.split(separator: ".")
      // An initializer is called by the name of its type.
      if path.last == "init" { path.removeLast() }
      guard let name = path.last else { continue }
      symbols[name, default: []].append(Symbol(path: path, labels: (match.2 ?? "").split(separator: ":")))
    }
  }

  /// Whether there is a symbol with a name such as `isFavorite`, `Asset.id` or `fetchAssets(in:with:)`. Labels of
  /// arguments with a default may be left out.
  func have(_ name: String) -> Bool {
    guard let match = name.wholeMatch(of: /([\w.]+)(?:\((.*)\))?/) else { return false }
    let path = match.1.split(separator: ".")
    guard path.count > 1 || match.2 != nil, let last = path.last else { return words.contains(match.1) }
    let labels = (match.2 ?? "").matches(of: /(\w+):/).map { $0.1 }
    return symbols[last, default: []].contains { symbol in
      var rest = symbol.labels[...]
      let hasLabels = labels.allSatisfy { label in
        guard let place = rest.firstIndex(of: label) else { return false }
        rest = rest[(place + 1)...]
        return true
      }
      return hasLabels && symbol.path.suffix(path.count).elementsEqual(path)
    }
  }
}
