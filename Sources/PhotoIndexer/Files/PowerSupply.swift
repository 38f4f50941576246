import Glibc

/// Whether the machine runs on its battery, according to /sys/class/power_supply (sysfs-class-power in the kernel's ABI
/// documentation).
struct PowerSupply: Sendable {
  /// A folder like /sys/class/power_supply. Tests use one of their own.
  let folder: String

  init(folder: String = "/sys/class/power_supply") { self.folder = folder }

  /// Whether an external supply is present but gives no power, and a battery of the machine is being discharged. A
  /// machine without a battery, or that reports neither, is on mains.
  var isOnBattery: Bool {
    var (isOnline, isOffline, isDischarging) = (false, false, false)
    for name in names {
      func value(_ attribute: String) -> String {
        let text = FileText.read("\(folder)/\(name)/\(attribute)") ?? []
        return String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
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

  private var names: [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }
}
