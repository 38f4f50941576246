import PhotoModel

/// The hints of an XMP packet at the kind of a picture.
struct XMPHints: Equatable {
  /// The properties of Google's (https://developer.android.com/media/platform/motion-photo-format,
  /// https://developers.google.com/streetview/spherical-metadata), Adobe's and Apple's namespaces that are read.
  enum Property: CaseIterable {
    case projection, panoramaViewer, motionPhoto, microVideo, burst, specialType, depthFormat, depthMap, gainMap
    case appleGainMap, appleAuxiliary, comment, extensionDigest

    /// The namespace and the name, as expat passes them.
    var name: StaticString {
      switch self {
      case .projection: "http://ns.google.com/photos/1.0/panorama/\nProjectionType"
      case .panoramaViewer: "http://ns.google.com/photos/1.0/panorama/\nUsePanoramaViewer"
      case .motionPhoto: "http://ns.google.com/photos/1.0/camera/\nMotionPhoto"
      case .microVideo: "http://ns.google.com/photos/1.0/camera/\nMicroVideo"
      case .burst: "http://ns.google.com/photos/1.0/camera/\nBurstID"
      case .specialType: "http://ns.google.com/photos/1.0/camera/\nSpecialTypeID"
      case .depthFormat: "http://ns.google.com/photos/1.0/depthmap/\nFormat"
      case .depthMap: "http://ns.google.com/photos/1.0/depthmap/\nMime"
      case .gainMap: "http://ns.adobe.com/hdr-gain-map/1.0/\nVersion"
      case .appleGainMap: "http://ns.apple.com/HDRGainMap/1.0/\nHDRGainMapVersion"
      case .appleAuxiliary: "http://ns.apple.com/pixeldatainfo/1.0/\nAuxiliaryImageType"
      case .comment: "http://ns.adobe.com/exif/1.0/\nUserComment"
      case .extensionDigest: "http://ns.adobe.com/xmp/note/\nHasExtendedXMP"
      }
    }
  }

  /// The property of an item in a container's directory, of which any number may be nested in a packet.
  static let semantics: [StaticString] = [
    "http://ns.google.com/photos/1.0/container/item/\nSemantic", "http://ns.google.com/photos/dd/1.0/item/\nSemantic",
  ]

  var subtypes: MediaSubtypes = []
  var burstIdentifier: String?
  /// The digest that names the extension of the packet (ISO 16684-3, 1.1.3.1): 32 hexadecimal digits.
  var extensionDigest: String?

  private var isPanorama: Bool?

  mutating func note(_ property: Property, _ text: String) {
    switch property {
    // A panorama by its projection, unless the writer forbids the viewer.
    case .projection:
      if isPanorama == nil { isPanorama = true }
    case .panoramaViewer: isPanorama = Self.isTrue(text)
    case .motionPhoto, .microVideo: if Self.isTrue(text) { subtypes.insert(.motionPhoto) }
    case .burst: burstIdentifier = burstIdentifier ?? text
    case .specialType: if text.hasSuffix("PORTRAIT") { subtypes.insert(.depth) }
    case .depthFormat, .depthMap: subtypes.insert(.depth)
    case .gainMap, .appleGainMap: subtypes.insert(.hdr)
    case .appleAuxiliary:
      switch text {
      case "depth", "disparity": subtypes.insert(.depth)
      case "urn:com:apple:photo:2020:aux:hdrgainmap": subtypes.insert(.hdr)
      default: break
      }
    case .comment: if text == "Screenshot" { subtypes.insert(.screenshot) }
    case .extensionDigest: extensionDigest = extensionDigest ?? text
    }
    if isPanorama == true { subtypes.insert(.panorama) } else { subtypes.remove(.panorama) }
  }

  /// The meaning of an item in a container's directory.
  mutating func note(semantic text: String) {
    switch text {
    case "MotionPhoto": subtypes.insert(.motionPhoto)
    case "GainMap": subtypes.insert(.hdr)
    case "Depth", "DepthMap": subtypes.insert(.depth)
    default: break
    }
  }

  private static func isTrue(_ text: String) -> Bool { text == "1" || text == "True" || text == "true" }
}
