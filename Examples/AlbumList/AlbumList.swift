import Foundation
import PhotoClient

/// The albums of the library.
///
/// - `swift run AlbumListExample` lists Recents, the albums of the user, and Favorites.
/// - `swift run AlbumListExample ALBUM` lists the photos of one album, newest first.
/// - `swift run AlbumListExample ALBUM NUMBER` shows the name and the size of the file of one of these photos.
///
/// SwiftPM builds the examples if the environment has `PHOTOD_EXAMPLES=1`.
@main struct AlbumList {
  private let library = PhotoLibrary(clientName: "album-list")

  static func main() async {
    do {
      let app = AlbumList()
      guard try await app.mayReadPhotos() else { exit(1) }
      let arguments = CommandLine.arguments.dropFirst()
      guard let title = arguments.first else { return try await app.showAlbums() }
      guard let album = try await app.albums().first(where: { $0.title == title }) else {
        print("There is no album '\(title)'.")
        exit(1)
      }
      if let number = arguments.dropFirst().first.flatMap({ Int($0) }) {
        try await app.showFile(number, of: album)
      } else {
        try await app.showPhotos(of: album)
      }
    } catch {
      print(error)
      exit(1)
    }
  }

  // MARK: - Access

  /// Asks for access, unless the user has decided before.
  private func mayReadPhotos() async throws -> Bool {
    var status = try await library.authorizationStatus(for: .readWrite)
    if status == .notDetermined { status = try await library.requestAuthorization(for: .readWrite) }
    switch status {
    case .authorized:
      return true
    case .limited:
      print("You chose the photos that this program sees.")
      return true
    case .denied:
      print("You did not give this program access to your photos.")
    case .restricted:
      print("The settings of this computer do not let this program have access to photos.")
    case .notDetermined, .unknown:
      print("This program has no access to your photos yet.")
    }
    return false
  }

  // MARK: - Albums

  private func albums() async throws -> [AssetCollection] {
    let recents = try await library.fetchAssetCollections(with: .smartAlbum, subtype: "recents")
    let userAlbums = try await library.fetchAssetCollections(with: .album)
    let favorites = try await library.fetchAssetCollections(with: .smartAlbum, subtype: "favorites")
    return recents.collections + userAlbums.collections + favorites.collections
  }

  private func showAlbums() async throws {
    let images = ImageManager(of: library)
    for album in try await albums() {
      print("\(album.title): \(album.count) photos, \(try await cover(of: album, images))")
    }
  }

  private func cover(of album: AssetCollection, _ images: ImageManager) async throws -> String {
    guard let id = album.keyAssetID else { return "no cover" }
    do {
      let size = ImageSize(width: 128, height: 128)
      let image = try await images.image(for: id, targetSize: size, contentMode: .aspectFill)
      return "cover of \(image.width)×\(image.height) pixels"
    } catch PhotoLibraryError.noImage(_, let message) {
      return "no cover: \(message)"
    }
  }

  // MARK: - Photos

  private func photos(of album: AssetCollection) async throws -> FetchResult {
    let newestFirst = SortDescriptor(key: "creationDate", ascending: false)
    return try await library.fetchAssets(in: album, with: FetchOptions(sortDescriptors: [newestFirst]))
  }

  private func showPhotos(of album: AssetCollection) async throws {
    for try await (index, photo) in try await photos(of: album).enumerate() {
      print("\(index + 1). \(photo.resources[0].filename), \(photo.creationDate)")
    }
  }

  private func showFile(_ number: Int, of album: AssetCollection) async throws {
    let photos = try await photos(of: album)
    guard photos.indices.contains(number - 1), let photo = try await photos[number - 1] else {
      return print("There is no photo \(number).")
    }
    // An asset may have several files. The first one is the one to show.
    let file = AssetResource.resources(for: photo)[0]
    print("\(file.filename), \(String(format: "%.2f MB", Double(file.byteCount) / 1_000_000))")
  }
}
