import ExtractRecords
import PhotoModel

extension MediaReader {
  func readOpenEXR(into facts: inout MediaFacts) {
    let header = OpenEXRHeader(window)
    (facts.pixelWidth, facts.pixelHeight) = (header.width, header.height)
    facts.creationDate = header.date
    facts.camera = header.camera.isEmpty ? nil : header.camera
    facts.caption = CaptionDefaults.written(header.caption, by: facts.camera)
    facts.location = header.location
    if header.width == nil { facts.failure = Self.noSize }
  }
}
