import PhotoModel

/// What writes itself, as its Codable form would be written with its keys sorted; a test proves it of each.
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
