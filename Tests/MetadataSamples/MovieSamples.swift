/// Small films, built from the specification.
enum MovieSamples {
  /// A film of an iPhone: a header, tracks, and QuickTime's keys.
  static let film = BoxSamples.movie(
    ["qt  "], BoxSamples.header(seconds: 3_600_000_000), BoxSamples.track(handler: "soun", id: 2, 0, 0),
    BoxSamples.track(1920, 1080, turns: 1), BoxSamples.keys(keys))

  static let keys: [(key: String, data: [UInt8])] = [
    ("com.apple.quicktime.creationdate", BoxSamples.data("2024-07-21T10:00:00+0200")),
    ("com.apple.quicktime.location.ISO6709", BoxSamples.data("+47.3750+008.5333+408.200/")),
    ("com.apple.quicktime.make", BoxSamples.data("Apple")),
    ("com.apple.quicktime.model", BoxSamples.data("iPhone 13 Pro")),
    ("com.apple.quicktime.content.identifier", BoxSamples.data("1B2C3D4E-5F60-4718-92A3-B4C5D6E7F809")),
    ("com.apple.quicktime.title", BoxSamples.data("Sea")),
    ("com.apple.quicktime.description", BoxSamples.data("A boat")),
    ("com.apple.quicktime.keywords", BoxSamples.data("sea,boat")),
    (
      "com.apple.quicktime.rating.user",
      BoxSamples.box("data", Samples.big(23), Samples.big(0), Samples.big(Int(Float(4).bitPattern)))
    ),
    ("com.example.unknown", BoxSamples.data("x")),
  ]

  /// The header and the film have sizes of eight bytes.
  static let long =
    BoxSamples.brands(["isom"]) + BoxSamples.long("mdat", [1, 2, 3])
    + BoxSamples.long("moov", BoxSamples.header(version: 1) + BoxSamples.track(version: 1))

  /// - Parameters:
  ///   - total: the duration of the film in `mehd`.
  ///   - index: whether there is a segment index.
  static func fragmented(total: Int? = nil, index: Bool = false, count: Int = 3) -> [UInt8] {
    let extends = BoxSamples.box(
      "mvex", total.map { BoxSamples.full("mehd", Samples.big($0)) } ?? [],
      BoxSamples.full("trex", Samples.big(1), Samples.big(1), Samples.big(40), Samples.big(0), Samples.big(0)))
    var file =
      BoxSamples.brands(["iso5", "dash"])
      + BoxSamples.box("moov", BoxSamples.header(duration: 0), BoxSamples.track(samples: 0), extends)
    if index {
      let references = (0..<2).flatMap { _ in Samples.big(100) + Samples.big(4000) + Samples.big(0) }
      file += BoxSamples.full(
        "sidx", Samples.big(1), Samples.big(1000), Samples.big(0), Samples.big(0), [0, 0, 0, 2], references)
    }
    for number in 0..<count {
      // The first run has a duration for each sample, the others the track's default.
      let samples = number == 0 ? Samples.big(100) + Samples.big(200) : []
      let run = BoxSamples.full("trun", flags: number == 0 ? 0x100 : 0, Samples.big(number == 0 ? 2 : 10), samples)
      let other = BoxSamples.box(
        "traf", BoxSamples.full("tfhd", Samples.big(9)), BoxSamples.full("trun", Samples.big(50_000)))
      file += BoxSamples.box("moof", BoxSamples.box("traf", BoxSamples.full("tfhd", Samples.big(1)), run), other)
      file += BoxSamples.box("mdat", [1, 2, 3, 4])
    }
    return file
  }
}
