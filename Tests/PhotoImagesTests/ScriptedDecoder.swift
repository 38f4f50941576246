import Glibc
import PhotoImages
import TestTools

extension PictureProgram {
  /// photod-image at this path.
  static func test(_ path: String) -> PictureProgram {
    var program = PictureProgram.image
    program.executable = { path }
    return program
  }
}

/// A stand-in for photod-image that handles some files badly. The name of a file tells how:
///
/// | a name that contains | what happens |
/// |---|---|
/// | `hang` | the process never answers |
/// | `crash` | signal 11 ends the process, whenever it decodes the file |
/// | `once` | signal 11 ends the process, the first time |
/// | `killed` | signal 9 ends the process |
/// | `disk` | signal 7 ends the process, as if the disk of a mapped file failed |
/// | `stop` | the process stops itself |
/// | `lies` | the process sends something that is no reply |
/// | `large` | the picture is larger than the frame |
/// | `short` | the picture is cut off |
/// | `refuse` | the file is refused as damaged |
///
/// For other files, it makes a picture of 60 × 40 pixels.
enum ScriptedDecoder {
  static let hasPython = access("/usr/bin/python3", X_OK) == 0

  /// Writes the program into a folder.
  /// - Returns: its path.
  static func install(in folder: String) throws -> String {
    let path = folder + "/scripted-image"
    try installProgram(program, at: path)
    return path
  }

  /// The protocol is that of `ImageStream`.
  private static let program = #"""
    #!/usr/bin/python3
    import array, os, signal, socket, struct, sys, time
    os.closerange(4, 4096)
    connection = socket.socket(fileno=3)
    parent = os.getppid()
    folder = os.path.dirname(os.path.abspath(__file__))
    connection.sendall(b'photodi\x03')
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
    def send(reply): connection.sendall(struct.pack('<I', len(reply)) + reply)
    need(8)
    while True:
      payload = need(struct.unpack('<I', need(4))[0])
      length = struct.unpack('<H', payload[:2])[0]
      name = payload[2:2 + length].decode()
      os.close(descriptors.pop(0))
      while 'hang' in name:
        time.sleep(0.05)
        if os.getppid() != parent: os._exit(0)
      if 'stop' in name: os.kill(os.getpid(), signal.SIGSTOP)
      if 'crash' in name: os.kill(os.getpid(), signal.SIGSEGV)
      if 'disk' in name: os.kill(os.getpid(), signal.SIGBUS)
      if 'killed' in name: os.kill(os.getpid(), signal.SIGKILL)
      if 'once' in name and not os.path.exists(folder + '/was-' + name):
        open(folder + '/was-' + name, 'w').close()
        os.kill(os.getpid(), signal.SIGSEGV)
      if 'lies' in name:
        send(b'\x09' * 50)
        continue
      if 'refuse' in name:
        send(struct.pack('<BBH', 3, 1, 7) + b'damaged')
        continue
      width, height = (600, 400) if 'large' in name else (60, 40)
      picture = b'\xff\xd8\xff\xc0\x00\x0b\x08' + struct.pack('>HH', height, width) + b'\x01\x01\x11\x00'
      picture += bytes(3000000) + (b'\x00\x00' if 'short' in name else b'\xff\xd9')
      send(struct.pack('<BH', 1, 10) + b'image/jpeg' + struct.pack('<IIQB', width, height, len(picture), 0))
      for start in range(0, len(picture), 1 << 20):
        piece = picture[start:start + (1 << 20)]
        send(struct.pack('<BI', 2, len(piece)) + piece)
    """#
}
