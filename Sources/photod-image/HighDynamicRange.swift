// SPDX-License-Identifier: GPL-2.0-or-later

import CImageDecoders
import Glibc

/// Maps colours that no ICC profile describes (ITU-T H.273) to sRGB: PQ, HLG, and the primaries of BT.2020.
///
/// The values become light in which 1 is the reference white of BT.2408 (203 cd/m²). HLG is shown as on a display of
/// 1,000 cd/m² (system gamma 1.2). The largest of red, green and blue decides by how much a pixel is darkened, so that
/// its hue stays. It is kept up to 0.8. Above, 0.8 + 0.2 (1 − exp(−(x − 0.8) / 0.2)) approaches white.
struct HighDynamicRange {
  private enum Curve { case standard, perceptualQuantizer, hybridLogGamma }

  private let curve: Curve
  /// The rows of the matrix to the primaries of BT.709.
  private let matrix: [Float]

  /// - Returns: nil if an ICC profile, or sRGB, describes the colours.
  init?(_ colors: imagedecoders_colors) {
    switch colors.transfer {
    case 16: curve = .perceptualQuantizer
    case 18: curve = .hybridLogGamma
    default:
      guard colors.profile == nil, colors.primaries == 9 else { return nil }
      curve = .standard
    }
    matrix =
      switch colors.primaries {
      case 11, 12: [1.2249, -0.2247, 0, -0.0420, 1.0419, 0, -0.0197, -0.0786, 1.0979]
      case 1: [1, 0, 0, 0, 1, 0, 0, 0, 1]
      default: [1.6605, -0.5876, -0.0728, -0.1246, 1.1329, -0.0083, -0.0182, -0.1006, 1.1187]
      }
  }

  /// - Parameter pixels: RGB with any number of bits.
  /// - Returns: RGB with 8 bits.
  func map(_ pixels: Pixels) throws(PictureError) -> Pixels {
    let result = try Pixels.allocate(pixels.size, IMAGEDECODERS_RGB)
    let bits = Int(pixels.content.bits)
    let most = 1 << bits - 1
    let light = (0...most).map { linear(Float($0) / Float(most)) }
    let encoded = (0...4095).map { UInt8((Self.encode(Float($0) / 4095) * 255).rounded()) }
    let (source, target) = (pixels.bytes, result.bytes)
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
    return result
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
