/// Names that programs give to screenshots.
package enum ScreenshotName {
  /// Whether the name begins like a screenshot's and no letter follows: `Screenshot_2024...`, `Screenshot from
  /// 2024...`, `Bildschirmfoto vom ...`, but not `Screenshots of the game`. ASCII case is ignored.
  package static func matches(_ name: UnsafeRawBufferPointer) -> Bool {
    // Nearly every name from a camera is rejected here.
    guard let first = name.first, initials.contains(MediaFormat.lowercased(first)) else { return false }
    return beginnings.contains { beginning in
      let length = beginning.utf8CodeUnitCount
      guard name.count > length else { return false }
      for index in 0..<length where MediaFormat.lowercased(name[index]) != beginning.utf8Start[index] { return false }
      let next = MediaFormat.lowercased(name[length])
      return !(0x61...0x7A).contains(next) && next < 0x80
    }
  }

  private static let initials: [UInt8] = Array("sbceiz".utf8)

  /// The names of Android, GNOME, KDE, Windows, macOS and iOS in their most common languages; ASCII letters in lower
  /// case.
  private static let beginnings: [StaticString] = [
    "screenshot", "screen shot", "screen_shot", "screencapture", "bildschirmfoto", "bildschirmaufnahme",
    "capture d\u{2019}\u{e9}cran", "capture d'\u{e9}cran", "capture d\u{2019}e\u{301}cran", "captura de pantalla",
    "captura de tela", "captura de ecr\u{e3}", "schermafbeelding", "schermafdruk", "schermata", "sk\u{e4}rmbild",
    "sk\u{e6}rmbillede", "skjermbilde", "istantanea", "zrzut ekranu", "ekran resmi",
    "ekran g\u{f6}r\u{fc}nt\u{fc}s\u{fc}",
  ]
}
