/// Which fields of which of ExifTool's file types are compared. A format is added by a line in the table.
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
    "JPEG", "TIFF", "PNG", "GIF", "WEBP", "Extended WEBP", "DNG", "CR2", "NEF", "ARW", "RAF", "RW2", "IIQ", "MRW",
    "CRW",
    "X3F", "MKV", "WEBM", "AVI", "M2TS", "PSD", "BMP", "EXR",
  ]

  private static let header: Set<Field> = [.dimensions, .contentType]
  private static let descriptions: Set<Field> = [.keywords, .title, .caption, .rating]
  private static let photo = Set(Field.allCases).subtracting([.duration])
  private static let video: Set<Field> = [
    .date, .make, .model, .dimensions, .duration, .contentType, .title, .orientation,
  ]

  /// ExifTool calls a transport stream without time stamps `video/mpeg`.
  private static let table: [String: Set<Field>] = [
    "JPEG": photo, "TIFF": photo, "PSD": photo, "PSB": photo,
    "PNG": header.union(descriptions), "GIF": header.union(descriptions),
    "WEBP": header.union(descriptions), "Extended WEBP": header.union(descriptions),
    "BMP": header, "EXR": header.union([.date]),
    // TIFF structures
    "DNG": photo, "CR2": photo, "NEF": photo, "NRW": photo, "ARW": photo, "SR2": photo, "SRF": photo, "ORF": photo,
    "RW2": photo, "RWL": photo, "PEF": photo, "SRW": photo, "3FR": photo, "FFF": photo, "IIQ": photo, "ERF": photo,
    "MEF": photo, "MOS": photo, "KDC": photo, "DCR": photo, "GPR": photo,
    // Structures of their own
    "RAF": photo, "MRW": photo, "X3F": photo,
    "CRW": [.date, .make, .model, .iso, .dimensions, .contentType],
    "MKV": video, "WEBM": video, "AVI": video, "M2TS": video, "M2T": video.subtracting([.contentType]), "MPEG": header,
  ]
}
