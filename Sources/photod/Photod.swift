import ArgumentParser
import Glibc
import Logging
import PhotoDaemon

@main
enum Photod {
  // The main actor is avoided, because its callbacks would trap on any other thread.
  nonisolated static func main() async {
    raiseFileLimit()
    let environment = ProcessEnvironment.take()
    let arguments: PhotodArguments
    do {
      arguments = try PhotodArguments.parse()
    } catch {
      // Help and version exit with status 0, and a wrong command line with 64.
      if PhotodArguments.exitCode(for: error).isSuccess { PhotodArguments.exit(withError: error) }
      let message = PhotodArguments.fullMessage(for: error)
      let prefix = "Error: "
      let text = "photod: \(message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : message)\n"
      LogOutput.toStandardError(Array(text.utf8))
      PhotodArguments.exit(withError: PhotodArguments.exitCode(for: error))
    }
    LogOutput.bootstrap(environment)
    let status = await Daemon.run(options: arguments.options, environment: environment, parts: .library)
    exit(status.rawValue)
  }
}

/// Raises the limit of open files as far as permitted, because libdispatch ends a process that cannot open its own
/// /proc/self/task. photod-watch, which is started later, inherits the limit.
private func raiseFileLimit() {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else {
    return
  }
  limit.rlim_cur = limit.rlim_max
  // If the system refuses, photod continues with the present limit.
  _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

struct PhotodArguments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "photod",
    abstract: "Keeps your photo folders in a catalog, and tells programs exactly what changed.",
    discussion: """
      photod indexes the folders given, notices every change to them, and answers at a Unix socket, where photoctl \
      and other programs fetch, observe and change the library (Varlink, interface org.photod.library).

      An option comes before the configuration file, the file before the default.

      CONFIGURATION
        roots = ["~/Pictures"]         # folders to keep; default: your pictures
        ignore = ["Exports", "*.gif"]  # what is not wanted in them, see below
        removal-grace-seconds = 600    # 0 turns the brake off
        log-level = "info"             # trace debug info notice warning error
                                       # critical
        catalog = "/path/catalog.sqlite"
        socket = "/path/photod.sock"
        An unknown key or a wrong type is an error.

      IGNORED FILES AND FOLDERS
        Patterns are as in a .gitignore file, of bytes, and case counts. * stands
        for any bytes but /, ? for one, [a-z] for one of these, [!a-z] for one of
        the others, \\ takes the next as it is.
        "Exports", "*.gif"        a name, at any depth
        "Raw/old", "Cache/**"     a path below a folder that is kept; ** stands
                                  for any folders between
        "/mnt/photos/old/*.tif"   a whole path, without links
        "Scans/"                  only a folder
        A folder that matches is not entered. Also passed over: hidden names,
        folders that hold .nomedia, .trackerignore or a signed CACHEDIR.TAG, and
        what NAS and desktops keep beside photos (@eaDir, lost+found).

      FILES
        $XDG_CONFIG_HOME/photod/config.toml    configuration (~/.config)
        $XDG_CONFIG_HOME/user-dirs.dirs        names your pictures folder, else
                                               ~/Pictures
        $XDG_DATA_HOME/photod/catalog.sqlite   catalog (~/.local/share); beside it
                                               its lock, backups/, and
                                               catalog.userdata: what you typed,
                                               of which a lost catalog is made
                                               anew
        $XDG_RUNTIME_DIR/photod/photod.sock    socket (/run/user/UID)

      SIGNALS
        TERM, INT   end cleanly, within 2 seconds
        HUP         read the configuration again

      ENVIRONMENT
        HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_RUNTIME_DIR   where the files are
        LISTEN_FDS, NOTIFY_SOCKET, WATCHDOG_USEC, JOURNAL_STREAM   set by systemd

      EXIT CODES
        0   ended as asked
        64  wrong options
        70  a bug, or a stop that took too long
        71  system error
        73  can't make a file or the socket
        74  catalog unreadable
        75  another photod is running
        78  wrong configuration (as a service it stays up, and 'photoctl status'
            says what is wrong)

      EXAMPLES
        photod                                       keep your pictures folder
        photod --root ~/Photos --root /media/card    keep these two
        photod --root . --catalog /tmp/c.sqlite --socket /tmp/p.sock
                                                     try it out beside another photod
      """,
    version: "photod \(Daemon.version)")

  @Option(
    name: .customLong("root"),
    help: ArgumentHelp("A folder to keep, with all below it. May be given several times.", valueName: "dir"),
    completion: .directory)
  var roots: [String] = []

  @Option(
    name: .customLong("ignore"),
    help: ArgumentHelp(
      "What is not wanted in the folders: a name, or a path below one, with * and ?. May be given several times.",
      valueName: "pattern"))
  var ignore: [String] = []

  @Option(help: ArgumentHelp("The catalog.", valueName: "file"), completion: .file())
  var catalog: String?

  @Option(help: ArgumentHelp("The socket to answer at.", valueName: "path"), completion: .file())
  var socket: String?

  @Option(
    help: ArgumentHelp("The configuration; must exist.", valueName: "file"), completion: .file(extensions: ["toml"]))
  var config: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long many photos that a scan misses at once are kept, in case they come back (default: 600).",
      valueName: "seconds"))
  var removalGrace: Double?

  @Option(
    help: ArgumentHelp(
      "What to log: \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")) (default: info).",
      valueName: "level"),
    completion: .list(Logger.Level.allCases.map(\.rawValue)))
  var logLevel: String?

  func validate() throws {
    if let removalGrace, !(0...ConfigurationFile.maximumGraceSeconds).contains(removalGrace) {
      throw ValidationError(
        "--removal-grace is \(Int(exactly: removalGrace).map(String.init) ?? "\(removalGrace)"); it is 0 to \(Int(ConfigurationFile.maximumGraceSeconds)) seconds."
      )
    }
    if let logLevel, Logger.Level(rawValue: logLevel) == nil {
      throw ValidationError(
        "--log-level is '\(logLevel)'; levels are \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
  }

  var options: Options {
    var options = Options()
    options.roots = roots
    options.ignore = ignore
    options.catalog = catalog
    options.socket = socket
    options.configuration = config
    options.removalGraceSeconds = removalGrace
    options.logLevel = logLevel.flatMap(Logger.Level.init(rawValue:))
    return options
  }
}
