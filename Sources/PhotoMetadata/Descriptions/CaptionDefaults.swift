import PhotoModel

/// The texts that cameras and programs write as a caption without being asked.
///
/// They are no captions in any format, whichever block contains them. A text that only resembles one of them may be a
/// person's. The list comes from three sources:
///
/// 1. The captions of the real photos with which the tests compare photod and ExifTool, among them ExifTool's sample
///    images of all vendors. Every caption there that a camera or a program wrote is listed.
/// 2. PhotoPrism's list of unwanted descriptions (internal/meta/sanitize.go), with the scene codes of Huawei's phones.
/// 3. The default comments of GIMP, imlib and Kodak's action cameras.
package enum CaptionDefaults {
  /// The first of the texts that neither a camera nor a program wrote by itself.
  static func written(_ texts: String?..., by camera: Camera?) -> String? {
    texts.lazy.compactMap { $0 }.first { !contains($0, camera ?? Camera()) }
  }

  package static func contains(_ text: String, _ camera: Camera) -> Bool {
    if beginnings.contains(where: text.hasPrefix) || text == camera.model || text == camera.make { return true }
    let upper = text.uppercased()
    // Cameras write their maker before these words, all in capital letters. "My first digital camera" is a caption.
    if text == upper, endings.contains(where: text.hasSuffix) { return true }
    return list.contains(upper) || sceneCodes.contains(text)
  }

  private static let endings = ["DIGITAL CAMERA", "DIGITAL STILL CAMERA"]

  /// GoPro writes the path on its card, Samsung its own name and a number.
  private static let beginnings = ["DCIM\\", "DCIM/", "<Digimax", "<DIGIMAX"]

  /// Whole texts. Their case varies from camera to camera.
  private static let list: Set<String> = [
    "SONY DSC", "DCF 1.0", "EXIF_JPEG_PICTURE", "EXIF JPEG PICTURE", "EXIF_JPEG_420", "EXIF_JPEG_422", "EXIF_JPEG",
    "EXIF JPEG",
    "SAMSUNG CAMERA PICTURES", "SAMSUNG CSC", "SAMSUNG", "DIGITAL IMAGE", "DIGITAL STILLCAMERA", "DSC", "MINOLTA DSC",
    "KODAK ACTION CAM", "GC-X1E IMAGE", "DEFAULT", "UNTITLED", "IMAGE", "BINARY COMMENT", "CHARSET=ASCII",
    "CREATED WITH GIMP", "CREATED WITH THE GIMP", "CREATED BY IMLIB", "LEAD TECHNOLOGIES INC. V1.01",
  ]

  /// The codes of Huawei and Honor. Their case matters, because a person may write "Burst".
  private static let sceneCodes: Set<String> = [
    "rhdr", "hdrpl", "oznor", "oznorWO", "frontbhdp", "fbt", "mon", "nor", "dav", "mde", "mde_soft", "edf", "btf",
    "btfmdn", "btfhdr", "frem", "rpt", "burst", "sdr_HDRB", "cof", "qrf",
  ]
}
