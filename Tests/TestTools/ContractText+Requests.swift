// The members of requests that can be large.
extension ContractText {
  /// A string or an array of a request.
  package struct RequestMember: Sendable {
    /// The method or type and the member, such as `FetchOptions.text`.
    package let name: String
    package let shape: Shape
    /// A method whose request has the member, and the way to it, such as `options.text` or `requests[0].editAsset.ids`.
    package let method: String
    package let path: String

    /// Whether it is a string or an array of strings.
    package var hasText: Bool { shape == .scalar("string") || isArrayOfText }

    private var isArrayOfText: Bool {
      switch shape {
      case .array(.scalar("string")), .array(.words): true
      default: false
      }
    }

    /// A request in which this member has that value, and no other member is there.
    package func request(with value: String) -> String {
      path.split(separator: ".").reversed().reduce(value) { inner, name in
        name.hasSuffix("[0]") ? #"{"\#(name.dropLast(3))":[\#(inner)]}"# : #"{"\#(name)":\#(inner)}"#
      }
    }
  }

  /// Each member once, however many methods have it.
  package var requestMembers: [RequestMember] {
    var found: [String: RequestMember] = [:]
    for (method, shape) in requests.sorted(by: { $0.key < $1.key }) {
      collect(shape, owner: method, method, path: "", into: &found)
    }
    return found.values.sorted { $0.name < $1.name }
  }

  /// A member with this name, which no object has, in each object of each request.
  package func unknownMembers(named name: String) -> [RequestMember] {
    requests.sorted { $0.key < $1.key }.flatMap { method, shape in
      objectPaths(in: shape, path: "").map { path in
        RequestMember(
          name: name, shape: .scalar("int"), method: method, path: path.isEmpty ? name : "\(path).\(name)")
      }
    }
  }

  private func objectPaths(in shape: Shape, path: String) -> [String] {
    switch shape {
    case .named(let type): objectPaths(in: types[type] ?? .object([:]), path: path)
    case .array(let element): objectPaths(in: element, path: path + "[0]")
    case .object(let members):
      [path]
        + members.sorted { $0.key < $1.key }.flatMap { name, member in
          objectPaths(in: member.shape, path: path.isEmpty ? name : "\(path).\(name)")
        }
    case .scalar, .words, .dictionary: []
    }
  }

  private func collect(
    _ shape: Shape, owner: String, _ method: String, path: String, into found: inout [String: RequestMember]
  ) {
    switch shape {
    case .named(let type): collect(types[type] ?? .object([:]), owner: type, method, path: path, into: &found)
    case .array(let element): collect(element, owner: owner, method, path: path + "[0]", into: &found)
    case .object(let members):
      for (name, member) in members.sorted(by: { $0.key < $1.key }) {
        let inner = path.isEmpty ? name : "\(path).\(name)"
        let isText = member.shape == .scalar("string")
        let isArray = if case .array = member.shape { true } else { false }
        if isText || isArray, found["\(owner).\(name)"] == nil {
          found["\(owner).\(name)"] = RequestMember(
            name: "\(owner).\(name)", shape: member.shape, method: method, path: inner)
        }
        collect(member.shape, owner: "\(owner).\(name)", method, path: inner, into: &found)
      }
    case .scalar, .words, .dictionary: break
    }
  }
}
