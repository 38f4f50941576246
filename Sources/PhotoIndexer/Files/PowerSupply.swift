import Glibc

/// Whether the machine runs on its battery, according to /sys/class/power_supply (sysfs-class-power in the kernel's ABI
/// documentation).
struct PowerSupply: Sendable {
  /// A folder like /sys/class/power_supply. Tests use one of their own.
  let folder: String

  init(folder: String = "/sys/class/power_supply") { self.folder = folder }

  /// Whether a battery of the machine is being discharged, and no external supply gives power. Some machines do not list
  /// their external supply.
  var isOnBattery: Bool {
    var (isOnline, isDischarging) = (false, false)
    for name in names {
      func value(_ attribute: String) -> String {
        let text = FileText.read("\(folder)/\(name)/\(attribute)") ?? []
        return String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      }
      // A supply of scope "Device" belongs to another device, such as a mouse.
      if value("scope") == "Device" { continue }
      switch value("type") {
      case "Mains", "USB": if value("online") != "0" { isOnline = true }
      case "Battery": if value("status") == "Discharging" { isDischarging = true }
      default: break
      }
    }
    return isDischarging && !isOnline
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
