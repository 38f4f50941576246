/// Values by absolute path. A path is walked name by name, so that a look-up takes as long as the path is.
///
/// The nodes are in one array, because a path may be so long that nodes within nodes would exhaust the stack.
struct PathTree<Value> {
  /// Names a path while it, or a path below it, has a value.
  typealias Place = Int

  /// The place of `/`.
  static var top: Place { 0 }

  private struct Node {
    var parent: Place
    var name: [UInt8]
    var value: Value?
    var children: [[UInt8]: Place] = [:]
  }

  private var nodes = [Node(parent: 0, name: [])]
  private var free: [Place] = []

  /// If a place loses its value and has none below it, it ends.
  subscript(place: Place) -> Value? {
    get { nodes[place].value }
    set {
      nodes[place].value = newValue
      if newValue == nil { prune(place) }
    }
  }

  /// The place of a path, which is made if there is none. It must get a value.
  mutating func makePlace(_ path: [UInt8]) -> Place {
    var place = Self.top
    for name in path.split(separator: UInt8(ascii: "/")) {
      let name = Array(name)
      if let child = nodes[place].children[name] {
        place = child
        continue
      }
      let child: Place
      if let last = free.popLast() {
        child = last
        nodes[child] = Node(parent: place, name: name)
      } else {
        child = nodes.count
        nodes.append(Node(parent: place, name: name))
      }
      nodes[place].children[name] = child
      place = child
    }
    return place
  }

  func place(of path: [UInt8]) -> Place? {
    var place = Self.top
    for name in path.split(separator: UInt8(ascii: "/")) {
      guard let child = nodes[place].children[Array(name)] else { return nil }
      place = child
    }
    return place
  }

  /// The places on the way down a path, from `/` to the last one that is there.
  func places(on path: [UInt8]) -> [Place] {
    var places = [Self.top]
    for name in path.split(separator: UInt8(ascii: "/")) {
      guard let child = nodes[places[places.count - 1]].children[Array(name)] else { break }
      places.append(child)
    }
    return places
  }

  func parent(of place: Place) -> Place { nodes[place].parent }

  func children(of place: Place) -> [Place] { Array(nodes[place].children.values) }

  /// A place and all below it, in no order.
  func places(below top: Place) -> [Place] {
    var (places, index) = ([top], 0)
    while index < places.count {
      places += nodes[places[index]].children.values
      index += 1
    }
    return places
  }

  func path(of place: Place) -> [UInt8] {
    var (names, place) = ([[UInt8]](), place)
    while place != Self.top {
      names.append(nodes[place].name)
      place = nodes[place].parent
    }
    return names.isEmpty ? [UInt8(ascii: "/")] : names.reversed().flatMap { [UInt8(ascii: "/")] + $0 }
  }

  private mutating func prune(_ place: Place) {
    var place = place
    while place != Self.top, nodes[place].value == nil, nodes[place].children.isEmpty {
      let node = nodes[place]
      nodes[place] = Node(parent: 0, name: [])
      free.append(place)
      nodes[node.parent].children[node.name] = nil
      place = node.parent
    }
  }
}
