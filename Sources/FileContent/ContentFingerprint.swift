/// Indicates, without reading all of them, that two files have the same content: 64 bits of the first 16 KiB and the
/// size.
///
/// A photo's first 16 KiB contain its metadata, with the time it was taken, and usually the beginning of its pixels.
/// The hash is wyhash, final version 4 with its default secret (https://github.com/wangyi-fudan/wyhash, public domain).
/// Its input is these bytes, and the size is its seed. Numbers are read as little-endian on every machine. Catalogs
/// store the fingerprint, so it never changes. It withstands chance but no attacker, who could copy the photo as well.
package enum ContentFingerprint {
  /// The number of bytes of a file that count.
  package static let byteCount = 16_384

  /// - Parameters:
  ///   - head: the file's first ``byteCount`` bytes, or the whole file if it is shorter. Further bytes are ignored.
  ///   - byteCount: the file's size.
  /// - Complexity: about 16 bytes a nanosecond.
  package static func of(head: UnsafeRawBufferPointer, byteCount: Int64) -> UInt64 {
    wyhash(
      UnsafeRawBufferPointer(rebasing: head.prefix(Self.byteCount)), seed: UInt64(bitPattern: byteCount))
  }

  private static let secret0: UInt64 = 0x2d35_8dcc_aa6c_78a5
  private static let secret1: UInt64 = 0x8bb8_4b93_962e_acc9
  private static let secret2: UInt64 = 0x4b33_a62e_d433_d4a3
  private static let secret3: UInt64 = 0x4d5a_2da5_1de1_aa47

  /// The hash itself, of all these bytes.
  package static func wyhash(_ bytes: UnsafeRawBufferPointer, seed start: UInt64) -> UInt64 {
    var seed = start ^ mix(start ^ secret0, secret1)
    var (a, b): (UInt64, UInt64)
    let count = bytes.count
    if count > 16 {
      var (place, left) = (0, count)
      if left >= 48 {
        var (seed1, seed2) = (seed, seed)
        repeat {
          seed = mix(bytes.word(place) ^ secret1, bytes.word(place + 8) ^ seed)
          seed1 = mix(bytes.word(place + 16) ^ secret2, bytes.word(place + 24) ^ seed1)
          seed2 = mix(bytes.word(place + 32) ^ secret3, bytes.word(place + 40) ^ seed2)
          place += 48
          left -= 48
        } while left >= 48
        seed ^= seed1 ^ seed2
      }
      while left > 16 {
        seed = mix(bytes.word(place) ^ secret1, bytes.word(place + 8) ^ seed)
        place += 16
        left -= 16
      }
      (a, b) = (bytes.word(count - 16), bytes.word(count - 8))
    } else if count >= 4 {
      let middle = (count >> 3) << 2
      a = bytes.half(0) << 32 | bytes.half(middle)
      b = bytes.half(count - 4) << 32 | bytes.half(count - 4 - middle)
    } else if count > 0 {
      a = UInt64(bytes[0]) << 16 | UInt64(bytes[count >> 1]) << 8 | UInt64(bytes[count - 1])
      b = 0
    } else {
      (a, b) = (0, 0)
    }
    a ^= secret1
    b ^= seed
    let product = a.multipliedFullWidth(by: b)
    return mix(product.low ^ secret0 ^ UInt64(count), product.high ^ secret1)
  }

  /// Folds both halves of the product.
  @inline(__always)
  private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.low ^ product.high
  }
}

extension UnsafeRawBufferPointer {
  /// The caller has checked the bounds.
  @inline(__always)
  fileprivate func word(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  fileprivate func half(_ offset: Int) -> UInt64 {
    UInt64(UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }
}
