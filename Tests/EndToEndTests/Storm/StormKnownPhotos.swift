import Foundation
import Glibc
import PhotoClient
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing

/// Photos that remain the same for a person. They are renamed, moved with and without their folders, edited and saved,
/// but never deleted or replaced. Each must keep its id, and its state as a favorite.
final class KnownPhotos: Sendable {
  /// A folder of the library.
  struct Root: Sendable {
    /// The path as photod knows it.
    let path: String
    /// The path by which the test reaches it.
    let reachedAt: String
  }

  private struct Photo {
    let root: Int
    /// The path below the root.
    var path: String
    /// Whether it is saved as editors do: another file is written and renamed over it. Such a photo must keep its path,
    /// because otherwise it could not be recognized.
    let isSaved: Bool
    var id: AssetID = 0
    var isFavorite = false
    /// Whether a call for it is under way, or ended without an answer. Then the change may have been made or not.
    var isUnsure = false
  }

  /// A photo, and whether it shall become a favorite or stop being one.
  struct Choice: Sendable {
    fileprivate let index: Int
    let id: AssetID
    let isFavorite: Bool
    fileprivate let wasUnsure: Bool
  }

  /// The result of a call that has ended.
  enum Outcome: Sendable {
    case done
    /// photod was not reached, or answered that it changed nothing.
    case refused
    /// The change may have been made or not.
    case unknown

    /// - Parameter error: the error of a failed call.
    init(of error: any Error) {
      self =
        switch error as? PhotoLibraryError {
        case .connectionClosed, .timedOut, .internalError, .malformedReply, .unknown, nil: .unknown
        default: .refused
        }
    }
  }

  private struct State {
    var photos: [Photo] = []
    /// By root: the folders below it that contain photos.
    var folders: [[String]] = []
    var count = 0
  }

  private let roots: [Root]
  private let state = Mutex(State())

  init(_ roots: [Root]) throws {
    self.roots = roots
    try state.withLock { state in
      for (number, root) in roots.enumerated() {
        let folders = (0..<4).map { "kept/k\($0)" } + ["saved"]
        for folder in folders + ["other"] {
          try FileManager.default.createDirectory(
            atPath: root.reachedAt + "/" + folder, withIntermediateDirectories: true)
        }
        state.folders.append(Array(folders.dropLast()))
        for index in 0..<30 {
          let folder = folders[index % folders.count]
          let photo = Photo(root: number, path: folder + "/p\(index).jpg", isSaved: folder == "saved")
          // Each photo has its own content, because identical copies could not be distinguished.
          try (DaemonFixture.photo(index) + Data("known \(number) \(index)".utf8)).write(
            to: URL(fileURLWithPath: root.reachedAt + "/" + photo.path))
          state.photos.append(photo)
        }
      }
    }
  }

  /// Records the ids, which must not change afterwards.
  func learnIDs(_ ids: [String: AssetID]) throws {
    try state.withLock { state in
      for index in state.photos.indices {
        let path = path(state.photos[index])
        state.photos[index].id = try #require(ids[path], "\(path) is missing")
      }
    }
  }

  private func path(_ photo: Photo) -> String { roots[photo.root].path + "/" + photo.path }

  // MARK: Changes

  /// Makes one change to one photo in this root.
  func step(inRoot root: Int, _ random: inout SeededGenerator) {
    let folder = roots[root].reachedAt + "/"
    state.withLock { state in
      state.count += 1
      let name = "\(state.count)"
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1:
        let index = Int.random(in: 0..<state.folders[root].count, using: &random)
        let old = state.folders[root][index]
        let new = (Bool.random(using: &random) ? "kept/k" : "other/k") + name
        guard rename(folder + old, folder + new) == 0 else { return }
        state.folders[root][index] = new
        for position in state.photos.indices
        where state.photos[position].root == root && state.photos[position].path.hasPrefix(old + "/") {
          state.photos[position].path = new + state.photos[position].path.dropFirst(old.count)
        }
      default:
        let candidates = state.photos.indices.filter { state.photos[$0].root == root }
        guard let index = candidates.randomElement(using: &random) else { return }
        let photo = state.photos[index]
        if photo.isSaved {
          let beside = folder + "saved/.saving-" + name
          write(beside, flags: O_TRUNC, state.count)
          rename(beside, folder + photo.path)
        } else if Int.random(in: 0..<3, using: &random) == 0 {
          write(folder + photo.path, flags: O_APPEND, state.count)
        } else {
          guard let target = state.folders[root].randomElement(using: &random) else { return }
          let new = target + "/m" + name + ".jpg"
          if rename(folder + photo.path, folder + new) == 0 { state.photos[index].path = new }
        }
      }
    }
  }

  private func write(_ path: String, flags: Int32, _ variant: Int) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0o644)
    guard descriptor >= 0 else { return }
    let data = (flags == O_APPEND ? Data() : DaemonFixture.photo(variant)) + Data("edited \(variant)".utf8)
    data.withUnsafeBytes { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
  }

  /// Chooses a photo to become a favorite, or to stop being one. Until ``note(_:_:)`` both states are allowed, because
  /// photod may make the change before its reply is read.
  func chooseFavorite(_ random: inout SeededGenerator) -> Choice {
    state.withLock { state in
      let index = Int.random(in: 0..<state.photos.count, using: &random)
      let photo = state.photos[index]
      state.photos[index].isUnsure = true
      return Choice(index: index, id: photo.id, isFavorite: !photo.isFavorite, wasUnsure: photo.isUnsure)
    }
  }

  /// Records the outcome of the call for a choice.
  func note(_ choice: Choice, _ outcome: Outcome) {
    state.withLock { state in
      switch outcome {
      case .done:
        state.photos[choice.index].isFavorite = choice.isFavorite
        state.photos[choice.index].isUnsure = false
      case .refused: state.photos[choice.index].isUnsure = choice.wasUnsure
      case .unknown: break
      }
    }
  }

  // MARK: Checks

  /// The photos with a wrong id, and those that are wrongly a favorite or wrongly none.
  ///
  /// - Returns: the descriptions with the path of the photo.
  func differences(ids: [String: AssetID], favorites: Set<AssetID>) -> [(path: String, what: String)] {
    state.withLock { state in
      var differences: [(String, String)] = []
      for photo in state.photos {
        let path = path(photo)
        if ids[path] != photo.id {
          differences.append((path, "has the id \(ids[path].map(String.init) ?? "of nothing"), not \(photo.id)"))
        } else if !photo.isUnsure, favorites.contains(photo.id) != photo.isFavorite {
          differences.append(
            (path, "is \(photo.isFavorite ? "no favorite any more" : "a favorite that no client set")"))
        }
      }
      let known = Set(state.photos.map(\.id))
      for id in favorites.subtracting(known) { differences.append(("asset \(id)", "is a favorite that no client set")) }
      return differences
    }
  }
}
