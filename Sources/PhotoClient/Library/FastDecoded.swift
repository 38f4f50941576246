import PhotoContract
import PhotoModel
import Varlink

/// A reply that is parsed by hand if it has the expected form. The general decoder takes several times as long. For a
/// hundred thousand assets it would take longer than everything else.
struct FastDecoded<Value: JSONReadable & Decodable & Sendable>: VarlinkDecodable, Sendable {
  let value: Value

  init?(json: UnsafeBufferPointer<UInt8>) {
    do { value = try JSONReader.read(Value.self, from: json) } catch { return nil }
  }

  init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
}
