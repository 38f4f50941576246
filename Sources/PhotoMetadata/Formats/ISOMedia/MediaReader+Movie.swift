import ExtractRecords
import PhotoModel

extension MediaReader {
  /// Reads a film: MP4, MOV, M4V, 3GP, 3G2. If it has only sound, its media type is audio.
  ///
  /// `Documentation/dates.md` describes which of its dates counts.
  func readMovie(into facts: inout MediaFacts) {
    var movie: MovieHeader?
    var fragments: MovieFragments?
    var indexed: Double?
    var tags = MovieTags()
    for box in MediaBoxes(window, in: window.whole, ahead: MediaBoxes.far) {
      switch box.type {
      case "moov" where movie == nil:
        let header = MovieHeader(inflating: window, moov: box.content) ?? MovieHeader(window, moov: box.content)
        movie = header
        if header.durationSeconds == nil { fragments = MovieFragments(header) }
      case "moof" where fragments != nil && indexed == nil: fragments?.read(window, box.content)
      case "sidx" where indexed == nil: indexed = MovieFragments.indexedSeconds(window, box.content)
      case "meta": tags.readMetadata(window, box.content)
      case "uuid" where box.isXMP: tags.xmp = tags.xmp ?? box.content
      default: break
      }
      if fragments?.isExhausted == true { break }
    }
    guard let movie else {
      facts.failure = "the video is damaged or cut off: it has no header (moov)"
      return
    }
    tags.fill(from: movie.tags)
    facts.durationSeconds = movie.durationSeconds ?? indexed ?? fragments?.durationSeconds
    if let pictures = movie.pictures {
      (facts.pixelWidth, facts.pixelHeight) = (pictures.width, pictures.height)
    } else if movie.first("soun") != nil {
      facts.mediaType = .audio
      facts.contentType = Self.audioTypes[facts.contentType] ?? facts.contentType
    } else {
      facts.failure = "the video is damaged or cut off: it has no track with pictures"
    }
    apply(tags, created: movie.created, to: &facts)
  }

  /// The types of files with sound only (RFC 4337, RFC 3839, RFC 4393). QuickTime has none of its own.
  private static let audioTypes = [
    "video/mp4": "audio/mp4", "video/x-m4v": "audio/mp4", "video/3gpp": "audio/3gpp", "video/3gpp2": "audio/3gpp2",
  ]

  private func apply(_ tags: MovieTags, created: PhotoDate?, to facts: inout MediaFacts) {
    let packet = tags.xmp.flatMap { xmp.facts(window, at: $0) }
    var camera = Camera(make: tags.make, model: tags.model)
    if let packet { camera.complete(with: packet.camera) }
    facts.camera = camera.isEmpty ? nil : camera
    facts.location = tags.location ?? packet?.location
    facts.contentIdentifier = tags.contentIdentifier
    facts.creationDate =
      tags.creationDate ?? tags.day ?? packet?.dates.original ?? created ?? packet?.dates.digitized
    facts.title = packet?.title ?? tags.title
    facts.caption = CaptionDefaults.written(packet?.caption, tags.caption, by: facts.camera)
    facts.rating = packet?.rating ?? tags.rating
    facts.keywords = packet.flatMap { $0.keywords.isEmpty ? nil : $0.keywords } ?? tags.keywords.words
    if packet?.hints.subtypes.contains(.panorama) == true { facts.mediaSubtypes.insert(.panorama) }
  }
}
