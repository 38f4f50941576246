import PhotoModel

/// A value that writes itself as its Codable form is written with sorted keys. A test proves it for each type.
package protocol JSONWritable {
  func write(to writer: inout JSONWriter)
}

extension JSONWritable {
  package var json: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }
}

extension Bool: JSONWritable {
  package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Int: JSONWritable {
  package func write(to writer: inout JSONWriter) { writer.value(Int64(self)) }
}

extension Int64: JSONWritable {
  package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension AssetID: JSONWritable {
  package func write(to writer: inout JSONWriter) { writer.value(rawValue) }
}

extension CollectionID: JSONWritable {
  package func write(to writer: inout JSONWriter) { writer.value(rawValue) }
}

extension Double: JSONWritable {
  package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension String: JSONWritable {
  package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension PhotoDate: JSONWritable {
  package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Array: JSONWritable where Element: JSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.array { for element in self { element.write(to: &$0) } }
  }
}
