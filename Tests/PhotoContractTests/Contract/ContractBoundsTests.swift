import PhotoModel
import PredicateLanguage
import TestTools
import Testing
import Varlink

@testable import PhotoContract

/// The bounds in the comments of the interface files are those that photod enforces.
struct ContractBoundsTests {
  @Test(arguments: [
    (InterfaceDefinition.library, RequestBounds.library), (InterfaceDefinition.manage, RequestBounds.manage),
    (InterfaceDefinition.images, RequestBounds.images),
  ])
  func eachStringAndArrayOfARequestHasTheBoundThatTheFileStates(
    _ text: String, _ bounds: [String: RequestBound]
  ) throws {
    let contract = try ContractText(text)
    #expect(contract.bounds == bounds.mapValues { ContractText.Bound(count: $0.count, bytes: $0.bytes) })
    let members = contract.requestMembers
    #expect(Set(members.map(\.name)) == Set(bounds.keys))
    for member in members {
      let bound = bounds[member.name]
      let isArray = if case .array = member.shape { true } else { false }
      #expect((bound?.count != nil) == isArray, "\(member.name)")
      #expect((bound?.bytes != nil) == member.hasText, "\(member.name)")
    }
  }

  @Test func boundsOfTheLanguagesAreThoseOfTheirMembers() {
    #expect(RequestBounds.library["FetchOptions.predicate"]?.bytes == Predicate.maximumBytes)
    #expect(RequestBounds.library["FetchOptions.text"]?.bytes == 4 * TextQuery.maximumLength)
    #expect(RequestBounds.library["PerformChanges.clientName"]?.bytes == 4 * RequestLimits.maximumClientNameLength)
  }

  @Test func theLibraryFileStatesTheOtherLimitsThatAreEnforced() {
    let sentences = [
      "No call is larger than \(VarlinkService.Limits().maximumMessageBytes >> 20) MiB.",
      "The parameters of FetchPersistentChanges, Synchronize and each method of org.photod.manage have at most "
        + "\(VarlinkServiceCall.maximumShortParameters >> 10) KiB.",
      "A path has at most \(text(RequestLimits.maximumPathBytes)) bytes.",
      "No reply is larger than \(ReplyLimits.maximumBytes >> 20) MiB",
      "count: \(text(ReplyLimits.defaultPage)) by default, at most \(text(ReplyLimits.maximumPage))",
      "without: the first \(text(ReplyLimits.defaultPage)).",
      "Pages of at most \(text(ReplyLimits.changesPerPage)) changes",
      "At most \(text(RequestLimits.maximumChangedIDs)) ids of assets in all of them.",
      "have at most \(text(RequestLimits.maximumQueryBytes)) bytes in all of them.",
      "have at most \(RequestLimits.maximumEditedTextBytes >> 20) MiB. Beyond that, the call is ChangeRejected.",
      "at most \(text(RequestLimits.maximumClientNameLength)) characters, no control characters",
      "timeoutSeconds: \(text(RequestLimits.defaultTimeoutSeconds)) by default, "
        + "at most \(text(RequestLimits.maximumTimeoutSeconds)).",
      "at most \(text(TextQuery.maximumLength)) characters and \(text(TextQuery.maximumWordCount)) words",
      "at most \(text(Predicate.maximumComparisons)) comparisons, \(text(Predicate.maximumListCount)) values "
        + "in its lists, and \(text(Predicate.maximumDepth)) parentheses",
    ]
    for sentence in sentences { #expect(InterfaceDefinition.library.contains(sentence), "\(sentence)") }
  }

  @Test func theManageFileStatesTheLimitsThatAreEnforced() {
    #expect(InterfaceDefinition.manage.contains("No reply is larger than \(ReplyLimits.maximumBytes >> 20) MiB."))
  }

  @Test func theImagesFileStatesTheOtherLimitsThatAreEnforced() {
    let sentences = [
      "1...\(ImageLimits.maximumTarget)", "A reply has at most \(ImageLimits.resultsPerReply) results and 1 MiB.",
      "Pages of at most \(ImageLimits.pageBytes >> 10) KiB", "up to \(ImageLimits.maximumDataBytes >> 20) MiB.",
      "A call has at most \(ImageLimits.maximumCallBytes >> 20) MiB.",
      "At most \(ImageLimits.maximumWaitingResults) results and \(ImageLimits.maximumWaitingBytes >> 20) MiB wait",
      "At most \(ImageLimits.maximumSessionsOfClient) sessions a process, \(ImageLimits.maximumSessions) in all",
      "At most \(text(ImageLimits.maximumRequestsOfCall)) a call, \(text(ImageLimits.maximumRequests)) open in a session",
      "At most \(text(ImageLimits.maximumCachingMembers)) members a session",
      "data: base64, at most \(ImageLimits.maximumInlineBytes >> 10) KiB before encoding",
      "at most \(RequestLimits.maximumMadeImages) requests, each with its final result only",
      "pages of at most \(ImageLimits.pageBytes >> 10) KiB from offset to the end",
    ]
    for sentence in sentences { #expect(prose(InterfaceDefinition.images).contains(sentence), "\(sentence)") }
  }

  /// The comments without the breaks of their lines.
  private func prose(_ text: String) -> String { text.replacing(/\n#\s+/, with: " ") }

  /// With a comma between thousands.
  private func text(_ number: Int) -> String {
    number < 1_000 ? "\(number)" : text(number / 1_000) + "," + String(String(number % 1_000 + 1_000).dropFirst())
  }
}
