import PhotoModel

/// The numbers that stand for kinds in the catalog's columns (see v001-catalog.sql). A number that a newer version wrote
/// reads as the most general kind.
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

  /// What the one file of an asset is, where its content says no more.
  var resourceKind: Int64 {
    switch self {
    case .image, .unknown: Resource.Kind.photo.code
    case .video: Resource.Kind.video.code
    case .audio: Resource.Kind.audio.code
    }
  }
}

extension Resource.Kind {
  /// Its place among all the cases.
  package var code: Int64 {
    switch self {
    case .photo: 0
    case .video: 1
    case .audio: 2
    case .alternatePhoto: 3
    case .pairedVideo: 4
    case .adjustedPhoto: 5
    case .sidecar: 6
    }
  }

  package init(code: Int64) { self = Self.allCases.first { $0.code == code } ?? .sidecar }
}

extension AssetCollection.Kind {
  package var code: Int64 {
    switch self {
    case .smartAlbum: 0
    case .album: 1
    case .folderAlbum: 2
    }
  }

  package init(code: Int64) { self = Self.allCases.first { $0.code == code } ?? .folderAlbum }
}
