import Glibc

/// The sockets that a service manager opened for photod (sd_listen_fds(3)). They are the descriptors from 3 on.
/// `LISTEN_FDS` is their number, `LISTEN_PID` the process for which they are meant, and `LISTEN_FDNAMES` their names.
package struct ListenDescriptors: Hashable, Sendable {
  package struct Descriptor: Hashable, Sendable {
    package var number: Int32
    /// The name of the unit, or of its `FileDescriptorName=`; `unknown` if the manager gave none.
    package var name: String
  }

  package let descriptors: [Descriptor]

  /// The `SD_LISTEN_FDS_START` of sd_listen_fds(3).
  package static let firstDescriptor: Int32 = 3
  /// A bound against a nonsensical count. No unit of photod passes so many.
  private static let maximumCount: Int32 = 64

  /// Takes over the descriptors that the environment names. Each must be a listening stream socket of AF_UNIX, and is
  /// set to close on exec.
  ///
  /// - Parameter first: The first descriptor. A test may be unable to use descriptor 3.
  /// - Returns: No descriptors if the variables are absent, or are meant for another process.
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
        .configuration, "LISTEN_FDS is \"\(text)\", which is no number of sockets",
        remedy: "Start photod by its photod.socket.")
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
