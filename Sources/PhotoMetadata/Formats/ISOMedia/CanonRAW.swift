/// The metadata of a Canon CR3 file (https://github.com/lclevy/canon_cr3), which is an ISO base media file.
///
/// A `uuid` box in `moov` has EXIF's directories in TIFF structures of their own: `CMT1` the main directory, `CMT2` the
/// EXIF directory, `CMT4` the GPS directory.
struct CanonRAW {
  /// The stored size of the first full picture, before its orientation is applied.
  private(set) var size: (width: Int, height: Int)?
  private(set) var main: FilePart?
  private(set) var exif: FilePart?
  private(set) var gps: FilePart?
  private(set) var xmp: FilePart?

  init(_ window: FileWindow) {
    for box in MediaBoxes(window, in: window.whole, ahead: MediaBoxes.far) {
      if box.isXMP { xmp = xmp ?? box.content }
      guard box.type == "moov" else { continue }
      let header = MovieHeader(window, moov: box.content)
      // The first track is the picture as JPEG, the third one the sensor with its borders.
      if let track = header.first("vide"), let width = track.width, let height = track.height { size = (width, height) }
      for child in MediaBoxes(window, in: box.content)
      where child.userType?.high == 0x85C0_B687_820F_11E0 && child.userType?.low == 0x8111_F4CE_462B_6A48 {
        for directory in MediaBoxes(window, in: child.content) {
          switch directory.type {
          case "CMT1": main = main ?? directory.content
          case "CMT2": exif = exif ?? directory.content
          case "CMT4": gps = gps ?? directory.content
          default: break
          }
        }
      }
    }
  }
}
