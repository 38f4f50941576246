/// The fields that are compared, for each format (see ``ExifToolTruth/format``). A format is added by a line in the table.
enum AgreementFields {
  enum Field: String, CaseIterable {
    case date, make, model, lens, flash, latitude, longitude, altitude, orientation, dimensions, duration
    case keywords, title, caption, rating
    case exposureTime = "exposure time"
    case fNumber = "f-number"
    case iso = "ISO"
    case focalLength = "focal length"
    case contentType = "content type"
  }

  static func of(format: String) -> Set<Field>? { table[format] }

  /// The formats of which the folder of real photos has files.
  static let formatsWithRealFiles = [
    "JPEG", "MPO", "TIFF", "PNG", "GIF", "WEBP", "HEIC", "AVIF", "JXL", "JP2",
    "DNG", "CR2", "CR3", "NEF", "ARW", "RAF", "RW2", "IIQ", "MRW", "CRW", "X3F", "MP4", "MOV", "3GP", "MKV", "WEBM",
    "AVI", "M2TS", "PSD", "BMP", "EXR",
  ]

  private static let header: Set<Field> = [.dimensions, .contentType]
  private static let photo = Set(Field.allCases).subtracting([.duration])
  private static let film = Set(Field.allCases)
  private static let video: Set<Field> = [
    .date, .make, .model, .dimensions, .duration, .contentType, .title, .caption, .orientation,
  ]

  /// ExifTool gives more fields of two formats, which photod does not read: the exposure time, f-number and focal length of
  /// a CRW, and the exposure time and the number of the maker in an M2TS.
  ///
  /// ExifTool calls a transport stream without time stamps `video/mpeg`.
  private static let table: [String: Set<Field>] = [
    "JPEG": photo, "TIFF": photo, "PSD": photo, "PSB": photo,
    "MPO": photo, "PNG": photo, "GIF": photo, "WEBP": photo, "HEIC": photo, "AVIF": photo, "JXL": photo, "JP2": photo,
    "BMP": header, "EXR": header.union([.date]),
    // TIFF structures
    "DNG": photo, "CR2": photo, "NEF": photo, "NRW": photo, "ARW": photo, "SR2": photo, "SRF": photo, "ORF": photo,
    "RW2": photo, "RWL": photo, "PEF": photo, "SRW": photo, "3FR": photo, "FFF": photo, "IIQ": photo, "ERF": photo,
    "MEF": photo, "MOS": photo, "KDC": photo, "DCR": photo, "GPR": photo,
    // Structures of their own
    "CR3": photo, "RAF": photo, "MRW": photo, "X3F": photo,
    "CRW": [.date, .make, .model, .iso, .dimensions, .contentType],
    "MP4": film, "MOV": film, "M4V": film, "3GP": film, "3G2": film,
    "MKV": video, "WEBM": video, "AVI": video, "M2TS": video, "M2T": video.subtracting([.contentType]), "MPEG": header,
  ]
}
