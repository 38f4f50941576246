import CZlib
import TestTools

/// The pixels of a PNG with 8 bits, which is all that photod-image and the reference decoders write here.
struct Raster {
  let width: Int
  let height: Int
  let bands: Int
  private(set) var bytes: [UInt8]

  init(png: [UInt8]) throws {
    func number(_ at: Int) -> Int { (0..<4).reduce(0) { $0 << 8 | Int(png[at + $1]) } }
    try require(png.count > 57 && png[1...3].elementsEqual("PNG".utf8), "the result is no PNG")
    (width, height) = (number(16), number(20))
    let bands = try require([0: 1, 2: 3, 4: 2, 6: 4][Int(png[25])], "colour type \(png[25])")
    try require(png[24] == 8 && png[28] == 0, "\(png[24]) bits, interlace \(png[28])")
    self.bands = bands
    var (packed, at): ([UInt8], Int) = ([], 8)
    while at + 12 <= png.count {
      let count = number(at)
      if png[at + 4..<at + 8].elementsEqual("IDAT".utf8) { packed += png[at + 8..<at + 8 + count] }
      at += 12 + count
    }
    let row = width * bands
    var rows = [UInt8](repeating: 0, count: (row + 1) * height)
    var length = uLongf(rows.count)
    try require(uncompress(&rows, &length, packed, uLong(packed.count)) == Z_OK, "the pixels can't be unpacked")
    bytes = [UInt8](repeating: 0, count: row * height)
    for y in 0..<height {
      for x in 0..<row {
        let left = x >= bands ? Int(bytes[y * row + x - bands]) : 0
        let up = y > 0 ? Int(bytes[(y - 1) * row + x]) : 0
        let corner = x >= bands && y > 0 ? Int(bytes[(y - 1) * row + x - bands]) : 0
        let guess: Int
        switch rows[y * (row + 1)] {
        case 1: guess = left
        case 2: guess = up
        case 3: guess = (left + up) / 2
        case 4:
          let base = left + up - corner
          let distances = (abs(base - left), abs(base - up), abs(base - corner))
          guess =
            distances.0 <= distances.1 && distances.0 <= distances.2 ? left : distances.1 <= distances.2 ? up : corner
        default: guess = 0
        }
        bytes[y * row + x] = rows[y * (row + 1) + 1 + x] &+ UInt8(truncatingIfNeeded: guess)
      }
    }
  }

  /// Red, green and blue, over white.
  func color(_ x: Int, _ y: Int) -> [Int] {
    let start = (y * width + x) * bands
    let values = (0..<3).map { Int(bytes[start + (bands < 3 ? 0 : $0)]) }
    guard bands == 2 || bands == 4 else { return values }
    let alpha = Int(bytes[start + bands - 1])
    return values.map { ($0 * alpha + 255 * (255 - alpha)) / 255 }
  }

  /// The corners of ``MadeFiles/quarters(_:_:)`` in upright pictures whose files have the orientations 1...8.
  static let cornersOfOrientations = ["rgbw", "grwb", "wbgr", "bwrg", "rbgw", "brwg", "wgbr", "gwrb"]

  /// The colours of the corners in reading order, by their first letters: red, green, blue or white.
  var corners: String {
    let (left, top, right, bottom) = (width / 8, height / 8, width * 7 / 8, height * 7 / 8)
    return [(left, top), (right, top), (left, bottom), (right, bottom)].map { x, y in
      switch color(x, y).map({ $0 > 100 }) {
      case [true, false, false]: "r"
      case [false, true, false]: "g"
      case [false, false, true]: "b"
      default: "w"
      }
    }.joined()
  }

  /// The mean difference of the values of both. The other one may have one row or column more or less.
  func meanDifference(_ other: Raster) -> Double {
    guard abs(width - other.width) <= 1, abs(height - other.height) <= 1 else { return 255 }
    var (sum, count) = (0, 0)
    for y in 0..<min(height, other.height) {
      for x in 0..<min(width, other.width) {
        for (one, two) in zip(color(x, y), other.color(x, y)) { sum += abs(one - two) }
        count += 3
      }
    }
    return Double(sum) / Double(count)
  }
}
