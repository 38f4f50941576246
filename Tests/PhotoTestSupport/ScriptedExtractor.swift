import Glibc
import TestTools

/// A stand-in for photod-extract that handles some files badly. The name of a file tells how:
///
/// | a name that contains | what happens |
/// |---|---|
/// | `hang` | the process never answers, and sleeps |
/// | `spin` | the process never answers, and computes, as a parser in an endless loop |
/// | `slow` | the answer takes a fifth of a second |
/// | `crash` | signal 11 ends the process, whenever it reads the file |
/// | `once` | signal 11 ends the process, the first time |
/// | `lies` | the process sends something that is no reply |
///
/// All other files have the same facts: an image of the type `image/jpeg`, with the title `read`.
package enum ScriptedExtractor {
  package static let hasPython = access("/usr/bin/python3", X_OK) == 0

  /// Writes the program into a folder.
  /// - Returns: its path.
  package static func install(in folder: String) throws -> String {
    let path = folder + "/scripted-extract"
    try installProgram(program, at: path)
    return path
  }

  /// The protocol is that of `ExtractStream`.
  private static let program = #"""
    #!/usr/bin/python3
    import array, hashlib, os, signal, socket, struct, sys, threading, time
    os.closerange(4, 4096)
    connection = socket.socket(fileno=3)
    parent = os.getppid()
    folder = os.path.dirname(os.path.abspath(__file__))
    connection.sendall(b'photodx\x01')
    data, descriptors = b'', []
    def need(count):
      global data
      while len(data) < count:
        room = socket.CMSG_SPACE(32 * array.array('i').itemsize)
        part, ancillary, flags, _ = connection.recvmsg(65536, room)
        if not part: os._exit(0)
        for level, kind, content in ancillary:
          received = array.array('i')
          received.frombytes(content[:len(content) - len(content) % received.itemsize])
          descriptors.extend(received)
        data += part
      result, data = data[:count], data[count:]
      return result
    # Four threads get enough of the processor on a busy machine, too.
    def compute():
      block = bytes(1 << 20)
      while os.getppid() == parent: hashlib.sha256(block)
    need(8)
    while True:
      payload = need(struct.unpack('<I', need(4))[0])
      length = struct.unpack('<H', payload[1:3])[0]
      name = payload[3:3 + length].decode()
      os.close(descriptors.pop(0))
      while 'hang' in name:
        time.sleep(0.05)
        if os.getppid() != parent: os._exit(0)
      if 'spin' in name:
        for _ in range(3): threading.Thread(target=compute, daemon=True).start()
        compute()
        os._exit(0)
      if 'slow' in name: time.sleep(0.2)
      if 'crash' in name: os.kill(os.getpid(), signal.SIGSEGV)
      if 'once' in name and not os.path.exists(folder + '/was-' + name):
        open(folder + '/was-' + name, 'w').close()
        os.kill(os.getpid(), signal.SIGSEGV)
      if 'lies' in name: reply = b'\x07' * 50
      else:
        kind, title = b'image/jpeg', b'read'
        reply = struct.pack('<BIBI', 1, 1 << 16, 1, 0) + struct.pack('<I', len(kind)) + kind
        reply += struct.pack('<I', len(title)) + title
      connection.sendall(struct.pack('<I', len(reply)) + reply)
    """#
}
