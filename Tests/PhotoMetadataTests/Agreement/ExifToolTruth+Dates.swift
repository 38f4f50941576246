import Foundation
import PhotoModel

/// The date, by the rules of `Documentation/dates.md`.
extension ExifToolTruth {
  /// `YYYY-MM-DDTHH:MM:SS[.sss][±HH:MM]`
  var date: PhotoDate? {
    if isMovie { return movieDate }
    for (tag, suffix) in [("DateTimeOriginal", "Original"), ("CreateDate", "Digitized")] {
      for group in ["ExifIFD", "IFD0"] {
        guard let date = date(text("\(group):\(tag)"), suffix) else { continue }
        return zoned(date)
      }
    }
    if make != nil || model != nil, let date = date(text("IFD0:ModifyDate"), "") { return date }
    return embeddedDate ?? plainDate("PNG:CreationTime") ?? containerDate
  }

  /// The offset, from the UTC time of GPS, by the rule of `Documentation/dates.md`.
  private func zoned(_ date: PhotoDate) -> PhotoDate {
    guard date.offsetMinutes == nil, let day = string("EXIF:GPSDateStamp"), let time = string("EXIF:GPSTimeStamp"),
      let utc = PhotoDate(day.replacingOccurrences(of: ":", with: "-") + "T" + time)
    else { return date }
    let minutes = Double(date.microseconds - utc.microseconds) / 60_000_000
    let offset = Int((minutes / 15).rounded()) * 15
    guard offset != 0, abs(minutes - Double(offset)) <= 2, (-720...840).contains(offset) else { return date }
    return PhotoDate(microseconds: date.microseconds - Int64(offset) * 60_000_000, offsetMinutes: offset)
  }

  /// The key's, else the header's, which is in UTC.
  private var movieDate: PhotoDate? {
    if let date = plainDate("Keys:CreationDate") ?? plainDate("UserData:ContentCreateDate") { return date }
    guard let text = string("QuickTime:CreateDate"), text.count == 19 else { return nil }
    return PhotoDate(text.prefix(10).replacingOccurrences(of: ":", with: "-") + "T" + text.dropFirst(11) + "Z")
  }

  /// The dates of formats that have no EXIF. They may name a zone.
  private var containerDate: PhotoDate? {
    for group in ["Matroska", "RIFF", "H264", "CanonRaw", "SigmaRaw"] {
      guard let text = string("\(group):DateTimeOriginal"), text.count >= 19 else { continue }
      let day = text.prefix(10).replacingOccurrences(of: ":", with: "-")
      if let date = PhotoDate("\(day)T\(text.dropFirst(11))") { return date }
    }
    return plainDate("OpenEXR:CapDate")
  }

  private var embeddedDate: PhotoDate? {
    plainDate("XMP:DateTimeOriginal") ?? plainDate("XMP:DateCreated") ?? plainDate(
      "IPTC:DateCreated", "IPTC:TimeCreated")
      ?? plainDate("XMP:CreateDate") ?? plainDate("XMP:DateTimeDigitized")
      ?? plainDate("IPTC:DigitalCreationDate", "IPTC:DigitalCreationTime")
  }

  /// A date without a time means 12:00.
  private func plainDate(_ tag: String, _ timeTag: String? = nil) -> PhotoDate? {
    guard let text = string(tag), text.count >= 10 else { return nil }
    let day = text.prefix(10).replacingOccurrences(of: ":", with: "-")
    let time = timeTag == nil ? String(text.dropFirst(11)) : timeTag.flatMap(string) ?? ""
    return PhotoDate("\(day)T\(time.isEmpty ? "12:00:00" : time)")
  }

  private func date(_ text: String?, _ suffix: String) -> PhotoDate? {
    guard let text, text.count >= 16 else { return nil }
    let day = text.prefix(10).replacingOccurrences(of: ":", with: "-")
    var rest = String(text.dropFirst(11))
    if rest.count < 19, rest.count >= 5, !rest.contains("."),
      let fraction = string("EXIF:SubSecTime\(suffix)") ?? string("ExifIFD:SubSecTime\(suffix)")
    {
      let digits = fraction.trimmingCharacters(in: .whitespaces).prefix { $0.isASCII && $0.isNumber }
      if !digits.isEmpty { rest += "." + digits }
    }
    if let offset = string("EXIF:OffsetTime\(suffix)") ?? string("ExifIFD:OffsetTime\(suffix)"),
      PhotoDate("2000-01-01T00:00:00" + offset) != nil
    {
      rest += offset
    }
    return PhotoDate("\(day)T\(rest)")
  }
}
