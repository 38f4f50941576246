import TestTools

@testable import PhotoContract
@testable import PhotoModel

/// The Swift types of the contract's messages.
struct ContractMessages {
  struct Nothing: Codable {}

  let methods: [String: (request: any Decodable.Type, reply: any Decodable.Type)]
  let errors: [String: any Decodable.Type]
  /// Methods that photod does not answer yet.
  let unanswered: Set<String>
  /// Members that photod always sends, and that the client reads as optional because older daemons do not.
  let tolerated: Set<String>
  /// Members that share an enum with another one and never have some of its words.
  let partial: Set<String>
  /// The words of members that Swift reads as text. In a request, an unknown word is rejected. In a reply, a client
  /// shows the word unchanged.
  let texts: [String: [String]]

  static var library: ContractMessages {
    ContractMessages(
      methods: [
        "Fetch": (FetchRequest.self, AssetPage.self),
        "FetchIDs": (FetchIDsRequest.self, AssetIDPage.self),
        "GetAssets": (GetAssetsRequest.self, GetAssetsReply.self),
        "FindAssets": (FindAssetsRequest.self, FindAssetsReply.self),
        "FetchUserData": (FetchUserDataRequest.self, UserDataPage.self),
        "FetchCollections": (FetchCollectionsRequest.self, CollectionPage.self),
        "ListKeys": (Nothing.self, ListKeys.self),
        "ListValues": (ListValuesRequest.self, ValueCounts.self),
        "Observe": (ObserveRequest.self, ObserveReply.self),
        "ObserveCollections": (ObserveCollectionsRequest.self, CollectionObservation.self),
        "FetchPersistentChanges": (HistoryRequest.self, HistoryPage.self),
        "Synchronize": (SynchronizeRequest.self, TokenReply.self),
        "PerformChanges": (PerformChangesRequest.self, ChangeResult.self),
        "FetchUndoableChanges": (FetchUndoableChangesRequest.self, UndoableChangesReply.self),
        "UndoChange": (UndoChangeRequest.self, TokenReply.self),
        "AuthorizationStatus": (Nothing.self, Authorization.self),
        "RequestAuthorization": (AuthorizationRequest.self, AuthorizationReply.self),
        "Status": (Nothing.self, StatusReply.self),
        "Explain": (ExplainRequest.self, PathExplanation.self),
        "Rescan": (RescanRequest.self, RescanResult.self),
      ],
      errors: [
        "InvalidPredicate": PositionError.self, "InvalidText": PositionError.self,
        "UnknownSortKey": UnknownKeyError.self,
        "UnknownValueKey": UnknownKeyError.self,
        "NoSuchAsset": AssetIDsError.self, "NoSuchCollection": NoSuchCollectionError.self,
        "AmbiguousCollection": AmbiguousCollectionError.self, "ChangeTokenExpired": TokenError.self,
        "SnapshotExpired": MessageError.self, "ChangeRejected": RejectionError.self,
        "NotAuthorized": AuthorizationError.self, "LibraryUnavailable": MessageError.self,
        "StorageFull": MessageError.self, "NotInLibrary": PathError.self, "TimedOut": MessageError.self,
        "InternalError": MessageError.self,
      ],
      unanswered: [], tolerated: [],
      partial: ["ObserveCollections reply.reload"],
      texts: [
        "FetchOptions.mediaTypes": MediaType.allCases.map(\.rawValue),
        "FetchCollections request.kinds": AssetCollection.Kind.allCases.map(\.rawValue),
        "ObserveCollections request.kinds": AssetCollection.Kind.allCases.map(\.rawValue),
      ])
  }

  static var manage: ContractMessages {
    ContractMessages(
      methods: [
        "Clients": (Nothing.self, ClientList.self),
        "Events": (EventsRequest.self, EventPage.self),
        "ListUnreadable": (Nothing.self, UnreadablePage.self),
        "Backup": (BackupRequest.self, BackupReply.self),
        "ListBackups": (Nothing.self, BackupListReply.self),
        "Restore": (RestoreRequest.self, RestoredBackup.self),
        "Check": (CheckRequest.self, CatalogCheck.self),
        "ClearImages": (Nothing.self, ClearedImages.self),
      ],
      errors: [
        "Unavailable": MessageError.self, "NotABackup": PathError.self, "CannotWrite": PathError.self,
        "StorageFull": MessageError.self, "Busy": MessageError.self,
        "InternalError": MessageError.self,
      ],
      unanswered: [],
      // Daemons did not count commits before they sent one difference for several.
      tolerated: ["Stream.behindBy"], partial: [],
      texts: [
        "Event.source": DaemonEvent.Source.allCases.map(\.rawValue),
        "Event.kind": DaemonEvent.Kind.allCases.map(\.rawValue),
        "UnreadableFile.kind": UnreadableFile.Kind.allCases.map(\.rawValue),
        "Finding.severity": CatalogCheck.Finding.Severity.allCases.map(\.rawValue),
      ])
  }

  static var images: ContractMessages {
    ContractMessages(
      methods: [
        "OpenSession": (OpenSessionRequest.self, OpenSessionReply.self),
        "RequestImages": (RequestImagesRequest.self, Nothing.self),
        "CancelRequests": (CancelRequestsRequest.self, CancelRequestsReply.self),
        "StartCaching": (CachingRequest.self, Nothing.self),
        "StopCaching": (CachingRequest.self, Nothing.self),
        "StopCachingAll": (StopCachingAllRequest.self, Nothing.self),
        "ReadImage": (ReadImageRequest.self, ReadImageReply.self),
        "MakeImages": (MakeImagesRequest.self, MakeImagesReply.self),
        "ReadResource": (ReadResourceRequest.self, ReadResourceReply.self),
        "Statistics": (Nothing.self, ImageStatistics.self),
      ],
      errors: [
        "NoSuchSession": SessionError.self, "NoSuchImage": ImageIDError.self, "DuplicateRequest": RequestIDError.self,
        "TooManyRequests": LimitError.self, "TooManySessions": LimitError.self, "NoSuchAsset": AssetIDsError.self,
        "NoSuchResource": ResourceError.self, "ResourceUnavailable": PathError.self,
        "ResourceChanged": MessageError.self, "ReadExpired": MessageError.self,
        "NotAuthorized": AuthorizationError.self, "LibraryUnavailable": MessageError.self,
        "InternalError": MessageError.self,
      ],
      unanswered: [], tolerated: [], partial: [], texts: [:])
  }

  /// How the Swift types differ from an interface file; empty if they do not.
  func differences(from text: String) throws -> [String] {
    var comparison = ContractComparison(
      try ContractText(text), tolerated: tolerated, partial: partial, texts: texts)
    comparison.compareNames(of: "method", comparison.contract.requests, Set(methods.keys).union(unanswered))
    comparison.compareNames(of: "error", comparison.contract.errors, Set(errors.keys))
    for (name, types) in methods {
      try comparison.compare(types.request, with: comparison.contract.requests[name], "\(name) request")
      try comparison.compare(types.reply, with: comparison.contract.replies[name], "\(name) reply")
    }
    for (name, type) in errors { try comparison.compare(type, with: comparison.contract.errors[name], "error \(name)") }
    comparison.compareNames(of: "type", comparison.contract.types, comparison.seenTypes)
    return comparison.differences + comparison.unusedExceptions
  }
}

/// Compares the members that Swift types read with those that an interface file defines.
struct ContractComparison {
  typealias Shape = ContractText.Shape

  let contract: ContractText
  private let tolerated: Set<String>
  private let partial: Set<String>
  private let texts: [String: [String]]
  private var usedExceptions: Set<String> = []
  private(set) var seenTypes: Set<String> = []
  private(set) var differences: [String] = []

  init(_ contract: ContractText, tolerated: Set<String>, partial: Set<String>, texts: [String: [String]]) {
    self.contract = contract
    self.tolerated = tolerated
    self.partial = partial
    self.texts = texts
  }

  var unusedExceptions: [String] {
    tolerated.union(partial).union(texts.keys).subtracting(usedExceptions).sorted().map {
      "the exception for \($0) is not needed"
    }
  }

  mutating func compareNames(of kind: String, _ defined: [String: Shape], _ known: Set<String>) {
    for name in known.symmetricDifference(defined.keys).sorted() {
      differences.append(
        "\(kind) \(name) is \(known.contains(name) ? "not in the interface file" : "unknown in Swift")")
    }
  }

  mutating func compare<T: Decodable>(_ type: T.Type, with shape: Shape?, _ place: String) throws {
    guard let shape else { return }
    compare(try RecordingDecoder.shape(of: type), with: shape, place)
  }

  private mutating func compare(_ mine: Shape, with theirs: Shape, _ place: String) {
    switch (mine, theirs) {
    case (_, .named(let name)):
      seenTypes.insert(name)
      guard let shape = contract.types[name] else {
        differences.append("\(place): type \(name) is not defined")
        return
      }
      compare(mine, with: shape, name)
    case (.object(let mine), .object(let theirs)): compare(mine, with: theirs, place)
    case (.array(let mine), .array(let theirs)), (.dictionary(let mine), .dictionary(let theirs)):
      compare(mine, with: theirs, place)
    case (.scalar("string"), .words(let theirs)):
      guard let words = texts[place] else {
        differences.append("\(place): Swift reads its words as text")
        return
      }
      usedExceptions.insert(place)
      compare(.words(words), with: .words(theirs), place)
    case (.words(let mine), .words(let theirs)):
      let (mine, theirs) = (Set(mine), Set(theirs))
      if mine.isStrictSuperset(of: theirs), partial.contains(place) {
        usedExceptions.insert(place)
      } else if mine != theirs {
        differences.append("\(place): the words are \(mine.sorted()) in Swift and \(theirs.sorted()) in the file")
      }
    default: if mine != theirs { differences.append("\(place): it is \(mine) in Swift and \(theirs) in the file") }
    }
  }

  private mutating func compare(
    _ mine: [String: ContractText.Member], with theirs: [String: ContractText.Member], _ place: String
  ) {
    for name in Set(mine.keys).union(theirs.keys).sorted() {
      let place = "\(place).\(name)"
      guard let my = mine[name], let their = theirs[name] else {
        differences.append("\(place) is \(mine[name] == nil ? "unknown in Swift" : "not in the interface file")")
        continue
      }
      if my.isOptional, !their.isOptional, tolerated.contains(place) {
        usedExceptions.insert(place)
      } else if my.isOptional != their.isOptional {
        differences.append("\(place) is optional only in \(my.isOptional ? "Swift" : "the interface file")")
      }
      compare(my.shape, with: their.shape, place)
    }
  }
}
