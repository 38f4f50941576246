// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// Maps colours that no ICC profile describes (ITU-T H.273) to sRGB: PQ, HLG, and the primaries of BT.2020 and P3.
///
/// The values become light in which 1 is the reference white of BT.2408 (203 cd/m²). HLG is shown as on a display of
/// 1,000 cd/m² (system gamma 1.2). The largest of red, green and blue decides by how much a pixel is darkened, so that
/// its hue stays. It is kept up to 0.8. Above, 0.8 + 0.2 (1 − exp(−(x − 0.8) / 0.2)) approaches white.
package struct HighDynamicRange {
  private enum Curve { case standard, perceptualQuantizer, hybridLogGamma }

  private let curve: Curve
  /// The rows of the matrix to the primaries of BT.709.
  private let matrix: [Float]

  /// - Parameters:
  ///   - primaries: the primaries of H.273.
  ///   - transfer: the transfer characteristics of H.273.
  /// - Returns: nil if the colours are shown as sRGB without a change: they are neither PQ nor HLG, and their primaries
  ///   are not wide.
  package init?(primaries: Int, transfer: Int) {
    switch transfer {
    case 16: curve = .perceptualQuantizer
    case 18: curve = .hybridLogGamma
    default:
      guard [9, 11, 12].contains(primaries) else { return nil }
      curve = .standard
    }
    matrix =
      switch primaries {
      case 11, 12: [1.2249, -0.2247, 0, -0.0420, 1.0419, 0, -0.0197, -0.0786, 1.0979]
      case 1: [1, 0, 0, 0, 1, 0, 0, 0, 1]
      default: [1.6605, -0.5876, -0.0728, -0.1246, 1.1329, -0.0083, -0.0182, -0.1006, 1.1187]
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
    let encoded = (0...4095).map { UInt8((Self.encode(Float($0) / 4095) * 255).rounded()) }
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
      let scale = brightest > 0.8 ? (0.8 + 0.2 * (1 - expf(-(brightest - 0.8) / 0.2))) / brightest : 1
      target[3 * pixel] = encoded[min(4095, Int(mapped.0 * scale * 4095))]
      target[3 * pixel + 1] = encoded[min(4095, Int(mapped.1 * scale * 4095))]
      target[3 * pixel + 2] = encoded[min(4095, Int(mapped.2 * scale * 4095))]
    }
  }

  private func linear(_ value: Float) -> Float {
    switch curve {
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

  private static func encode(_ light: Float) -> Float {
    light <= 0.0031308 ? 12.92 * light : 1.055 * powf(light, 1 / 2.4) - 0.055
  }
}
