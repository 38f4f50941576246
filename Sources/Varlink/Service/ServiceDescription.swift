/// The interface that every service has: `org.varlink.service` (https://varlink.org/Service).
struct ServiceDescription: VarlinkInterface {
  static let interfaceName = "org.varlink.service"

  let identity: VarlinkService.Identity
  /// Name and text of each interface, this one first.
  let interfaces: [(name: String, text: String)]

  var name: String { Self.interfaceName }
  var definition: String { Self.text }

  private struct Info: Encodable {
    let vendor: String
    let product: String
    let version: String
    let url: String
    let interfaces: [String]
  }

  func respond(to call: VarlinkServiceCall) async throws {
    switch call.method {
    case "GetInfo":
      try await call.reply(
        Info(
          vendor: identity.vendor, product: identity.product, version: identity.version, url: identity.url,
          interfaces: interfaces.map(\.name)))
    case "GetInterfaceDescription":
      struct Parameters: Decodable { let interface: String }
      let wanted = try call.shortParameters(Parameters.self).interface
      guard wanted.utf8.count <= 1_000 else { throw VarlinkError.invalidParameter("interface") }
      guard let found = interfaces.first(where: { $0.name == wanted }) else {
        throw VarlinkError.interfaceNotFound(wanted)
      }
      try await call.reply(["description": found.text])
    default:
      throw VarlinkError.methodNotImplemented("\(name).\(call.method)")
    }
  }

  static let text = """
    # Every Varlink service has this interface: it says who the service is and which interfaces it has.
    interface org.varlink.service

    # The service's vendor, product and version, and the names of its interfaces.
    method GetInfo() -> (
      vendor: string,
      product: string,
      version: string,
      url: string,
      interfaces: []string
    )

    # The definition of one of the interfaces, with its comments.
    method GetInterfaceDescription(interface: string) -> (description: string)

    # The service has no such interface.
    error InterfaceNotFound (interface: string)

    # The interface has no such method.
    error MethodNotFound (method: string)

    # The interface has the method, this service does not implement it.
    error MethodNotImplemented (method: string)

    # A parameter is missing, of the wrong type, or out of bounds.
    error InvalidParameter (parameter: string)

    # The caller may not do this.
    error PermissionDenied ()

    # The method answers with several replies: call it with `more`.
    error ExpectedMore ()

    """
}
