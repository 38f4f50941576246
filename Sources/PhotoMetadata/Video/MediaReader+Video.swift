import ExtractRecords
import PhotoModel

/// Video files that are not ISO base media.
extension MediaReader {
  func readMatroska(into facts: inout MediaFacts) {
    let header = MatroskaHeader(window).header
    readVideo(header, into: &facts)
    if facts.mediaType == .audio {
      facts.contentType = facts.contentType == "video/webm" ? "audio/webm" : "audio/x-matroska"
    }
  }

  func readTransportStream(into facts: inout MediaFacts) {
    guard let stream = TransportStream(window) else { return }
    readVideo(stream.header, into: &facts)
  }

  /// Reads a video. If it has only sound, its media type is audio.
  func readVideo(_ header: VideoHeader, into facts: inout MediaFacts) {
    let exif = exif(header.exif) ?? ExifFacts()
    let listed = ExifFacts()
    listed.creationDate = header.date
    listed.location = header.location
    listed.camera = header.camera
    listed.title = header.title
    listed.caption = header.caption
    exif.complete(with: listed)
    facts.apply(exif, width: header.width, height: header.height)
    describe(&facts, exif, xmp: header.xmp)
    facts.durationSeconds = header.durationSeconds
    if !header.hasVideo {
      if header.hasAudio {
        facts.mediaType = .audio
      } else if header.width == nil {
        facts.failure = "the video is damaged or cut off: no track was found in it"
      }
    }
  }
}
