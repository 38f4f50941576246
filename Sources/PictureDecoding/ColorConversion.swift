// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// Converts colours that no ICC profile describes (ITU-T H.273) to sRGB: PQ, HLG, and other primaries than those of
/// BT.709.
///
/// The values of PQ and HLG become light in which 1 is the reference white of BT.2408 (203 cd/m²). HLG is shown as on a
/// display of 1,000 cd/m² (system gamma 1.2). The largest of red, green and blue decides by how much a pixel is
/// darkened, so that its hue stays. It is kept up to 0.8. Above, 0.8 + 0.2 (1 − exp(−(x − 0.8) / 0.2)) approaches
/// white.
///
/// All other values keep their curve, as players do, so grey stays as it is. Only the primaries are converted, in the
/// light of that curve: BT.1886 for BT.709 and BT.2020. White stays white, and colours outside of sRGB are clipped.
package struct ColorConversion {
  private enum Curve: Equatable {
    case standard, perceptualQuantizer, hybridLogGamma
    case power(Float)

    /// Whether there is light above white.
    var isHighDynamicRange: Bool { self == .perceptualQuantizer || self == .hybridLogGamma }
  }

  private let curve: Curve
  /// The rows of the matrix to the primaries of BT.709.
  private let matrix: [Float]

  /// - Parameters:
  ///   - primaries: the primaries of H.273.
  ///   - transfer: the transfer characteristics of H.273.
  /// - Returns: nil if the colours are shown as sRGB without a change: they are neither PQ nor HLG, and their primaries
  ///   are those of BT.709, or not known.
  package init?(primaries: Int, transfer: Int) {
    let matrix = Self.matrix(of: primaries)
    switch transfer {
    case 16: curve = .perceptualQuantizer
    case 18: curve = .hybridLogGamma
    default:
      guard matrix != nil else { return nil }
      curve =
        switch transfer {
        case 1, 6, 14, 15: .power(2.4)
        case 4: .power(2.2)
        case 5: .power(2.8)
        default: .standard
        }
    }
    // PQ and HLG that do not name their primaries are those of BT.2100.
    self.matrix = matrix ?? (primaries == 1 ? [1, 0, 0, 0, 1, 0, 0, 0, 1] : Self.wide)
  }

  /// From the primaries of BT.2020 to those of BT.709.
  private static let wide: [Float] = [1.6605, -0.5876, -0.0728, -0.1246, 1.1329, -0.0083, -0.0182, -0.1006, 1.1187]

  /// The matrix to the primaries of BT.709. A white that is not D65 is adapted to it (Bradford).
  /// - Returns: nil for BT.709 itself, and if nothing is known of the primaries.
  private static func matrix(of primaries: Int) -> [Float]? {
    switch primaries {
    // BT.470 of 1953, and film.
    case 4: [1.4862, -0.4036, -0.0826, -0.0251, 0.9540, 0.0711, -0.0272, -0.0441, 1.0713]
    case 8: [1.3462, -0.3392, -0.0070, -0.0474, 1.0661, -0.0187, -0.0217, -0.0613, 1.0830]
    // BT.601 with 625 and with 525 lines.
    case 5: [1.0440, -0.0440, 0, 0, 1, 0, 0, 0.0118, 0.9882]
    case 6, 7: [0.9395, 0.0502, 0.0103, 0.0178, 0.9658, 0.0164, -0.0016, -0.0044, 1.0060]
    case 9: wide
    // P3 of cinemas, and of displays.
    case 11: [1.1575, -0.1550, -0.0026, -0.0415, 1.0456, -0.0041, -0.0181, -0.0786, 1.0966]
    case 12: [1.2249, -0.2249, 0, -0.0421, 1.0421, 0, -0.0196, -0.0786, 1.0983]
    case 22: [1.0253, -0.0265, 0.0013, 0.0194, 0.9480, 0.0326, -0.0018, -0.0014, 1.0032]
    default: nil
    }
  }

  /// - Parameters:
  ///   - source: RGB with this many bits. More than 8 are stored in 16, the lower byte first.
  ///   - target: RGB with 8 bits. It has as many values as the source.
  package func map(
    _ source: UnsafeMutableBufferPointer<UInt8>, bits: Int, into target: UnsafeMutableBufferPointer<UInt8>
  ) {
    let most = 1 << bits - 1
    let light = (0...most).map { linear(Float($0) / Float(most)) }
    // The steps of the table are those of the root of the light, because the eye sees more of dark ones.
    let encoded = (0...4095).map { step in
      let root = Float(step) / 4095
      return UInt8((min(1, encode(root * root)) * 255).rounded())
    }
    func byte(_ light: Float) -> UInt8 { encoded[min(4095, Int((light.squareRoot() * 4095).rounded()))] }
    func value(_ index: Int) -> Float {
      guard bits > 8 else { return light[Int(source[index])] }
      return light[min(most, Int(source[2 * index]) | Int(source[2 * index + 1]) << 8)]
    }
    for pixel in 0..<target.count / 3 {
      var (red, green, blue) = (value(3 * pixel), value(3 * pixel + 1), value(3 * pixel + 2))
      if curve == .hybridLogGamma {
        let luminance = 0.2627 * red + 0.6780 * green + 0.0593 * blue
        let gain = powf(max(luminance, 1e-6), 0.2) * 1000 / 203
        (red, green, blue) = (red * gain, green * gain, blue * gain)
      }
      let mapped = (
        max(0, matrix[0] * red + matrix[1] * green + matrix[2] * blue),
        max(0, matrix[3] * red + matrix[4] * green + matrix[5] * blue),
        max(0, matrix[6] * red + matrix[7] * green + matrix[8] * blue)
      )
      let brightest = max(mapped.0, mapped.1, mapped.2)
      let scale =
        curve.isHighDynamicRange && brightest > 0.8 ? (0.8 + 0.2 * (1 - expf(-(brightest - 0.8) / 0.2))) / brightest : 1
      target[3 * pixel] = byte(mapped.0 * scale)
      target[3 * pixel + 1] = byte(mapped.1 * scale)
      target[3 * pixel + 2] = byte(mapped.2 * scale)
    }
  }

  private func linear(_ value: Float) -> Float {
    switch curve {
    case .power(let exponent): return powf(value, exponent)
    case .standard:
      return value <= 0.04045 ? value / 12.92 : powf((value + 0.055) / 1.055, 2.4)
    case .perceptualQuantizer:
      let power = powf(value, 1 / 78.84375)
      return powf(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125) * 10_000 / 203
    case .hybridLogGamma:
      // The light of the scene. The display's gamma depends on all three channels.
      return value <= 0.5 ? value * value / 3 : (expf((value - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }
  }

  private func encode(_ light: Float) -> Float {
    if case .power(let exponent) = curve { return powf(light, 1 / exponent) }
    return light <= 0.0031308 ? 12.92 * light : 1.055 * powf(light, 1 / 2.4) - 0.055
  }
}
