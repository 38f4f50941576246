import PhotoContract
import Varlink

/// `org.photod.images` without a library. Each call is answered with the reason.
package final class DegradedImageService: VarlinkInterface {
  package let name = "org.photod.images"
  package let definition = InterfaceDefinition.images
  package let bounds = RequestBounds.images.mapValues(VarlinkBound.init)
  private let library: DegradedService

  /// - Parameter library: the stand-in that has the reason.
  package init(beside library: DegradedService) { self.library = library }

  package func respond(to call: VarlinkServiceCall) async throws {
    throw ImageContractError.unavailable(library.reason)
  }
}
