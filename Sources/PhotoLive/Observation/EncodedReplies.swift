import PhotoContract
import Varlink

extension VarlinkEncoded {
  package init(_ value: some JSONWritable) { self.init(value.json) }
}

extension ReplyLimits {
  /// Encodes the longest head of `items` that fits, but at least one item. Returns the reply and the number of items in
  /// it.
  package static func page<Item, Reply: Encodable>(
    _ items: ArraySlice<Item>, _ reply: (ArraySlice<Item>) -> Reply
  ) throws -> (VarlinkEncoded, taken: Int) {
    try page(items, encoded: { try VarlinkEncoded(encoding: reply($0)) })
  }

  /// Takes the longest head of `items` whose reply fits, but at least one item. Returns the reply and the number of
  /// items in it.
  package static func page<Item>(
    _ items: ArraySlice<Item>, encoded reply: (ArraySlice<Item>) throws -> VarlinkEncoded
  ) rethrows -> (VarlinkEncoded, taken: Int) {
    var count = items.count
    while true {
      let encoded = try reply(items.prefix(count))
      if encoded.byteCount <= maximumBytes || count <= 1 { return (encoded, count) }
      // Items are of similar size, so the next attempt aims a little below the size that fits.
      count = min(count - 1, max(1, count * (maximumBytes * 9 / 10) / encoded.byteCount))
    }
  }
}
