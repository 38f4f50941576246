/// The interface files of photod, as they are published by `org.varlink.service.GetInterfaceDescription`.
package enum InterfaceDefinition {
  package static let library = text(PackageResources.org_photod_library_varlink)
  package static let manage = text(PackageResources.org_photod_manage_varlink)
  package static let images = text(PackageResources.org_photod_images_varlink)

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
