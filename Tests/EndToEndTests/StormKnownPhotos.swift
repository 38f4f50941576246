import Foundation
import Glibc
import PhotoClient
import PhotoTestSupport
import Synchronization
import Testing

/// Photos that a person would know again whatever is done to them: they are renamed, moved with and without their folders,
/// edited and saved, but never deleted or replaced. Each must keep its id, and with it whether it is a favorite.
final class KnownPhotos: Sendable {
  /// A folder of the library.
  struct Root: Sendable {
    /// As photod knows it.
    let path: String
    /// As the test reaches it.
    let reachedAt: String
  }

  private struct Photo {
    let root: Int
    /// Below the root.
    var path: String
    /// Saved beside it and renamed over it, as editors do; such a one stays in its place, or nobody could know it again.
    let isSaved: Bool
    var id: Int64 = 0
    var isFavorite = false
    /// A call for it is under way, or ended without an answer: it was done or not.
    var isUnsure = false
  }

  /// A photo that is to be a favorite, or none any more.
  struct Choice: Sendable {
    fileprivate let index: Int
    let id: Int64
    let isFavorite: Bool
    fileprivate let wasUnsure: Bool
  }

  /// The result of a call that has ended.
  enum Outcome: Sendable {
    case done
    /// photod was not reached, or said that it changed nothing.
    case refused
    /// It was done or not.
    case unknown

    /// - Parameter error: of a call that failed.
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
    /// By root: folders below it in which photos are.
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
          // Of its own: of two copies nobody could say which is which.
          try (DaemonFixture.photo(index) + Data("known \(number) \(index)".utf8)).write(
            to: URL(fileURLWithPath: root.reachedAt + "/" + photo.path))
          state.photos.append(photo)
        }
      }
    }
  }

  /// The ids that they have for good.
  func learnIDs(_ ids: [String: Int64]) throws {
    try state.withLock { state in
      for index in state.photos.indices {
        let path = path(state.photos[index])
        state.photos[index].id = try #require(ids[path], "\(path) is missing")
      }
    }
  }

  private func path(_ photo: Photo) -> String { roots[photo.root].path + "/" + photo.path }

  // MARK: What happens to them

  /// One thing to one of them, in this root.
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

  /// Chooses one of them to be a favorite, or none any more. Until ``note(_:_:)`` it may be either: photod may have done
  /// it before its reply is read.
  func chooseFavorite(_ random: inout SeededGenerator) -> Choice {
    state.withLock { state in
      let index = Int.random(in: 0..<state.photos.count, using: &random)
      let photo = state.photos[index]
      state.photos[index].isUnsure = true
      return Choice(index: index, id: photo.id, isFavorite: !photo.isFavorite, wasUnsure: photo.isUnsure)
    }
  }

  /// The call for a choice has ended.
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

  // MARK: What must be true

  /// What is wrong: whose id is another, who is a favorite and should not be, or is none and should be.
  ///
  /// - Returns: by the path of the photo.
  func complaints(ids: [String: Int64], favorites: Set<Int64>) -> [(path: String, what: String)] {
    state.withLock { state in
      var complaints: [(String, String)] = []
      for photo in state.photos {
        let path = path(photo)
        if ids[path] != photo.id {
          complaints.append((path, "has the id \(ids[path].map(String.init) ?? "of nothing"), not \(photo.id)"))
        } else if !photo.isUnsure, favorites.contains(photo.id) != photo.isFavorite {
          complaints.append((path, "is \(photo.isFavorite ? "no favorite any more" : "a favorite that nobody chose")"))
        }
      }
      let known = Set(state.photos.map(\.id))
      for id in favorites.subtracting(known) { complaints.append(("asset \(id)", "is a favorite that nobody chose")) }
      return complaints
    }
  }
}
