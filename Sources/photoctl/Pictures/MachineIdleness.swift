#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Whether the machine has time for work whose result no program waits for.
struct MachineIdleness: Sendable {
  /// Tests use files of their own.
  var pressure = "/proc/pressure/cpu"
  var supplies = "/sys/class/power_supply"

  /// More is a busy machine: in so many percent of the last ten seconds, a task waited for a processor.
  private static let mostPressure = 20.0

  /// Why such work must wait, as a clause; nil if it may run. A machine that does not say is idle and on mains power.
  func reasonToWait() -> String? {
    if isOnBattery { return "the machine runs on its battery" }
    if let pressure = waitingPercent(), pressure > Self.mostPressure { return "the processors are busy" }
    return nil
  }

  /// `some avg10=1.23 …` of the kernel's pressure stall information.
  private func waitingPercent() -> Double? {
    let words = (Self.read(pressure) ?? "").split(whereSeparator: \.isWhitespace)
    guard words.first == "some", let value = words.first(where: { $0.hasPrefix("avg10=") }) else { return nil }
    return Double(value.dropFirst("avg10=".count))
  }

  /// An external supply is present and gives no power, and a battery of the machine is being discharged.
  private var isOnBattery: Bool {
    guard let directory = opendir(supplies) else { return false }
    defer { closedir(directory) }
    var (isOnline, isOffline, isDischarging) = (false, false, false)
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard !name.hasPrefix(".") else { continue }
      func value(_ attribute: String) -> String {
        String((Self.read("\(supplies)/\(name)/\(attribute)") ?? "").prefix { !$0.isNewline })
      }
      // A supply of scope "Device" belongs to another device, such as a mouse.
      if value("scope") == "Device" { continue }
      switch value("type") {
      case "Mains", "USB": if value("online") == "0" { isOffline = true } else { isOnline = true }
      case "Battery": if value("status") == "Discharging" { isDischarging = true }
      default: break
      }
    }
    return isOffline && !isOnline && isDischarging
  }

  /// The first 4,096 bytes; nil if they can't be read.
  private static func read(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = readSome(file, &bytes, bytes.count)
    return count >= 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}

/// read(2), which a method of the same name would hide.
private func readSome(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, bytes, count)
}
