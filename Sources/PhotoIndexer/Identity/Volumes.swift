import PhotoCatalog
import PhotoModel

/// The volumes of the catalog: the identity of each, and the device number that it has while it is mounted.
struct Volumes {
  /// An identity across boots and mounts.
  private struct Identity {
    let text: String
    /// Each new file asks for it several times, so it is taken from the text once.
    let hasLastingInodes: Bool

    init(_ text: String) { (self.text, hasLastingInodes) = (text, VolumeIdentity.hasLastingInodes(text)) }
  }

  private var identities: [VolumeID: Identity]
  /// By device number. A new mount may have the number of a former one.
  private var mounted: [UInt64: VolumeID] = [:]

  init(identities: [VolumeID: String]) { self.identities = identities.mapValues { Identity($0) } }

  // MARK: Mounts

  /// Forgets which volume has which device number, because each mount may give a device a new one.
  mutating func forgetMounts() { mounted = [:] }

  /// The volume of a directory with this device number. It is identified if it is unknown.
  ///
  /// - Parameter parent: the volume of the parent directory, if the directory is no top. The device number of another
  ///   volume may belong to a new mount.
  mutating func id(
    device: UInt64, path: [UInt8], parent: VolumeID? = nil, files: any PhotoFiles, in writer: CatalogWriter
  ) throws -> VolumeID {
    if let known = mounted[device], parent == nil || known == parent { return known }
    let identity = files.volumeIdentity(device: device, path: path)
    let id = try writer.volume(identity: identity)
    mounted[device] = id
    identities[id] = Identity(identity)
    return id
  }

  // MARK: Identities

  /// Whether inodes identify files and directories. If they do not, the path counts first, and then size and
  /// modification time must agree.
  func hasLastingInodes(_ id: VolumeID) -> Bool { identities[id]?.hasLastingInodes ?? true }

  func isSameFileSystem(_ one: VolumeID, _ other: VolumeID) -> Bool {
    guard one != other, let first = identities[one], let second = identities[other] else { return one == other }
    return VolumeIdentity.isSameFileSystem(first.text, second.text)
  }

  /// Whether the file system of a directory may be this one, which had another identity before.
  func mayBeRenamed(_ directory: DirectoryRow, to id: VolumeID) -> Bool {
    guard let old = identities[directory.volumeID], let new = identities[id] else { return false }
    return VolumeIdentity.mayBeRenamed(old.text, to: new.text, hasBirthTime: directory.birthTime != .unknown)
  }

  func isShare(_ id: VolumeID) -> Bool { VolumeIdentity.namesShare(identities[id]?.text ?? "") }
}
