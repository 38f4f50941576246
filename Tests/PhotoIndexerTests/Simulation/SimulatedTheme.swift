import Foundation

/// A kind of event that the simulation may play or leave out.
///
/// All kinds are played. `PHOTOD_SIMULATION_THEMES=scans,swaps` plays these alone, and an empty value plays none.
enum SimulatedTheme: String, CaseIterable, Sendable {
  /// Pages of one scanner share their size and their first 16 KiB. The rest differs.
  case scans
  /// Equal files are in several folders, with and without the modification time of the original.
  case copies
  /// The wall clock is set 40 days ahead or back, and is right again later.
  case clock
  /// A folder is removed and put back from a backup. Its files have other inodes; everything else is as before.
  case restores
  /// Files get a second name.
  case links
  /// Edits keep size and modification time, as with `exiv2 -k`.
  case quietEdits
  /// `mv a b; cp c a` while no watcher sees it.
  case swaps
  /// A program saves through a visible file that has the bytes of a removed photo.
  case saves

  static let played: Set<Self> = {
    guard let named = ProcessInfo.processInfo.environment["PHOTOD_SIMULATION_THEMES"] else { return Set(allCases) }
    return Set(named.split(separator: ",").compactMap { Self(rawValue: String($0)) })
  }()
}
