#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An error reply. A service throws it to answer a call with an error, and a client's call throws it if the reply is an
/// error.
///
/// ```swift
/// struct Missing: Codable { let ids: [Int64] }
/// throw VarlinkError("org.example.library.NoSuchAsset", Missing(ids: [7]))
/// ```
public struct VarlinkError: Error, Sendable, Hashable {
  /// The fully qualified name, such as `org.example.library.NoSuchAsset`.
  public let name: String

  /// The parameters as the bytes of one JSON object; `{}` if there are none.
  public let parameters: [UInt8]

  /// An error without parameters.
  public init(_ name: String) {
    self.name = name
    self.parameters = Array("{}".utf8)
  }

  /// Creates an error with parameters.
  ///
  /// - Parameter parameters: encoded as a JSON object. A value that can't be encoded, such as a number that is not
  ///   finite, is a mistake of the program. It must not hide the error itself, which is then sent with `{}`.
  public init<P: Encodable>(_ name: String, _ parameters: P) {
    self.name = name
    do {
      self.parameters = Array(try JSONCoding.encodeObject(parameters))
    } catch {
      self.parameters = Array("{}".utf8)
    }
  }

  init(_ name: String, encodedParameters: [UInt8]) {
    self.name = name
    self.parameters = encodedParameters
  }

  /// The parameters as a value.
  ///
  /// - Throws: `DecodingError` when they don't fit the type.
  public func decodeParameters<P: Decodable>(_ type: P.Type) throws -> P {
    try parameters.withUnsafeBytes { try JSONCoding.decode(type, from: $0) }
  }
}

extension VarlinkError: CustomStringConvertible {
  /// The name of the error and its parameters, for a log.
  public var description: String {
    parameters == Array("{}".utf8) ? name : "\(name) \(String(decoding: parameters, as: UTF8.self))"
  }
}

// MARK: - The errors of org.varlink.service

extension VarlinkError {
  private static let service = "org.varlink.service"

  /// The service has no interface of this name.
  public static func interfaceNotFound(_ interface: String) -> VarlinkError {
    VarlinkError("\(service).InterfaceNotFound", ["interface": interface])
  }

  /// The interface's definition has no such method. `method` is sent as given.
  public static func methodNotFound(_ method: String) -> VarlinkError {
    VarlinkError("\(service).MethodNotFound", ["method": method])
  }

  /// The interface defines the method, but the service does not implement it.
  public static func methodNotImplemented(_ method: String) -> VarlinkError {
    VarlinkError("\(service).MethodNotImplemented", ["method": method])
  }

  /// The parameter of this name is missing, of the wrong type, or out of bounds.
  public static func invalidParameter(_ parameter: String) -> VarlinkError {
    VarlinkError("\(service).InvalidParameter", ["parameter": parameter])
  }

  /// The peer may not call this method.
  public static var permissionDenied: VarlinkError { VarlinkError("\(service).PermissionDenied") }

  /// The method answers with a stream and has to be called with `more`.
  public static var expectedMore: VarlinkError { VarlinkError("\(service).ExpectedMore") }

  /// The service failed in a way for which its interface has no error. The details are in the service's own log.
  ///
  /// Varlink has no such error. It is sent under the interface that was called: `org.example.library.InternalError`.
  public static func internalError(interface: String, message: String) -> VarlinkError {
    VarlinkError("\(interface).InternalError", ["message": message])
  }

  /// InvalidParameter that names the field which did not decode: `options.sortDescriptors[0].key`.
  static func invalidParameter(from error: DecodingError) -> VarlinkError {
    let path: [any CodingKey]
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      path = context.codingPath
    case .keyNotFound(let key, let context):
      path = context.codingPath + [key]
    @unknown default:
      path = []
    }
    var name = ""
    for key in path {
      if let index = key.intValue {
        name += "[\(index)]"
      } else {
        name += name.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    return .invalidParameter(name.isEmpty ? "parameters" : name)
  }
}
