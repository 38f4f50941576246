import Glibc

/// The sockets that a service manager opened for us (sd_listen_fds(3)): descriptors from 3 on, counted by `LISTEN_FDS`,
/// meant for the process in `LISTEN_PID`, named by `LISTEN_FDNAMES`.
package struct ListenDescriptors: Hashable, Sendable {
  package struct Descriptor: Hashable, Sendable {
    package var number: Int32
    /// The name of the unit, or of its `FileDescriptorName=`; `unknown` where the manager gave none.
    package var name: String
  }

  package let descriptors: [Descriptor]

  /// SD_LISTEN_FDS_START
  package static let firstDescriptor: Int32 = 3
  /// More than any unit of ours passes; a bound against a nonsensical count.
  private static let maximumCount: Int32 = 64

  /// Takes over what the environment promises: each is checked to be a listening stream socket of AF_UNIX, and set to
  /// close on exec.
  ///
  /// - Parameter first: Where they begin, for a test that can't have descriptor 3.
  /// - Returns: None where the variables are absent or meant for another process.
  /// - Throws: `configuration` for a descriptor that is something else.
  package init(
    taking environment: ProcessEnvironment, from first: Int32 = ListenDescriptors.firstDescriptor
  ) throws(StartError) {
    let variables = environment.variables
    guard variables["LISTEN_PID"] == "\(environment.processID)", let text = variables["LISTEN_FDS"] else {
      descriptors = []
      return
    }
    guard let count = Int32(text), (0...Self.maximumCount).contains(count) else {
      throw StartError(
        .configuration, "LISTEN_FDS is \"\(text)\", no number of sockets", remedy: "Start photod by its photod.socket.")
    }
    let names = (variables["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
    var taken: [Descriptor] = []
    for index in 0..<count {
      let number = first + index
      guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0,
        UnixSocketAddress.option(SO_DOMAIN, of: number) == AF_UNIX,
        UnixSocketAddress.option(SO_TYPE, of: number) == Int32(SOCK_STREAM.rawValue),
        UnixSocketAddress.option(SO_ACCEPTCONN, of: number) == 1
      else {
        throw StartError(
          .configuration, "the descriptor \(number) that the service manager passed is no listening Unix stream socket",
          remedy: "In photod.socket, use ListenStream= with a path, and Accept=no.")
      }
      let name = Int(index) < names.count && !names[Int(index)].isEmpty ? String(names[Int(index)]) : "unknown"
      taken.append(Descriptor(number: number, name: name))
    }
    descriptors = taken
  }
}
