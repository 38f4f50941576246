import PhotoModel

/// The numbers for kinds in the catalog's columns (see v001-catalog.sql). A number from a newer version is read as the
/// most general kind. The catalog has no `unknown` kind except for the media type, so -1 is in no row.
extension MediaType {
  package var code: Int64 {
    switch self {
    case .unknown: 0
    case .image: 1
    case .video: 2
    case .audio: 3
    }
  }

  package init(code: Int64) { self = Self.allCases.first { $0.code == code } ?? .unknown }

  /// The kind of an asset's only file, if its content does not tell more.
  var resourceKind: Int64 {
    switch self {
    case .image, .unknown: Resource.Kind.photo.code
    case .video: Resource.Kind.video.code
    case .audio: Resource.Kind.audio.code
    }
  }
}

extension Resource.Kind {
  /// The index of the case among all cases.
  package var code: Int64 {
    switch self {
    case .photo: 0
    case .video: 1
    case .audio: 2
    case .alternatePhoto: 3
    case .pairedVideo: 4
    case .adjustedPhoto: 5
    case .sidecar: 6
    case .unknown: -1
    }
  }

  package init(code: Int64) { self = Self.allCases.first { $0.code == code } ?? .sidecar }
}

extension CreationDateSource {
  package var code: Int64 {
    switch self {
    case .user: 0
    case .metadata: 1
    case .filename: 2
    case .file: 3
    case .unknown: -1
    }
  }

  package init(code: Int64) { self = Self.allCases.first { $0.code == code } ?? .file }
}

extension AssetCollection.Kind {
  package var code: Int64 {
    switch self {
    case .smartAlbum: 0
    case .album: 1
    case .folderAlbum: 2
    case .folder: 3
    case .unknown: -1
    }
  }

  package init(code: Int64) { self = Self.allCases.first { $0.code == code } ?? .folderAlbum }
}
