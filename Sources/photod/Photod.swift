import ArgumentParser
import Glibc
import Logging
import PhotoDaemon
import PredicateLanguage

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
      let problem = message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : message
      let explained = withHint(problem).replacing(
        "See 'photod --help' for more information.", with: "See `photod --help`.")
      let text = "photod: \(explained)\n"
      LogOutput.toStandardError(Array(text.utf8))
      PhotodArguments.exit(withError: PhotodArguments.exitCode(for: error))
    }
    if arguments.checkConfig { exit(checkConfiguration(arguments.options, environment)) }
    LogOutput.bootstrap(environment)
    let status = await Daemon.run(options: arguments.options, environment: environment, parts: .library)
    exit(status.rawValue)
  }
}

/// Prints the configuration that photod would run with.
/// - Returns: The exit status. An error is printed as at a start.
private func checkConfiguration(_ options: Options, _ environment: ProcessEnvironment) -> Int32 {
  do throws(StartError) {
    let text = try EffectiveConfiguration(options: options, environment: environment).text
    print(text, terminator: "")
    return EndStatus.success.rawValue
  } catch {
    LogOutput.toStandardError(Array(error.threeLines.utf8))
    return error.status.rawValue
  }
}

/// Improves the parser's message: a folder is named after `--root`, and only an option that is alike is suggested.
private func withHint(_ message: String) -> String {
  var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  lines[0] = Spelling.withoutFarSuggestion(lines[0])
  let parts = lines[0].split(separator: "'", omittingEmptySubsequences: false)
  guard lines[0].lowercased().contains("unexpected argument"), parts.count >= 3 else {
    return lines.joined(separator: "\n")
  }
  lines[0] += ". Name each folder to index after --root, as in: --root '\(parts[1])'"
  return lines.joined(separator: "\n")
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
    abstract: "Keeps your photo folders in a catalog, and sends programs the exact changes.",
    discussion: """
      photod indexes your photo folders, notices each change in them, and serves a Unix socket. There, photoctl and \
      other programs fetch, observe and change the library (Varlink, interface org.photod.library).

      An option overrides the configuration file, which overrides the default.

      CONFIGURATION
        An unknown key or a wrong type is an error. `photod --check-config` prints
        the configuration, where each value comes from, and the error if there is
        one. It ends with the exit code of a start.

          roots = ["~/Pictures"]         # folders to index; default: your pictures
                                         # folder
          ignore = ["Exports", "*.gif"]  # files and folders to ignore, see below
          removal-grace-seconds = 600    # how long photos are kept if a scan misses
                                         # many of them at once; 0: not at all
          log-level = "info"             # trace debug info notice warning error
                                         # critical
          image-cache-size = "2 GiB"     # how large the kept pictures may be
          share-thumbnails = false       # whether file managers get thumbnails of
                                         # the pictures that photod makes
          catalog = "/path/catalog.sqlite"
          socket = "/path/photod.sock"
          [poll-interval-seconds]        # for roots whose changes photod must poll,
          "/mnt/nas/photos" = 300        # such as shares; default: some seconds

      IGNORED FILES AND FOLDERS
        Patterns are those of a .gitignore file. They match bytes, and case counts.
        * matches any bytes but /, ? matches one byte, [a-z] one of these, [!a-z]
        one of the others, and \\ makes the next byte literal.
        "Exports", "*.gif"        a name, at any depth
        "Raw/old", "Cache/**"     a path below a root; ** matches any number of
                                  folders
        "/mnt/photos/old/*.tif"   a whole path, without symbolic links
        "Scans/"                  only a folder
        photod does not enter a folder that matches. It also ignores hidden files
        and folders, folders that contain .nomedia, .trackerignore or a signed
        CACHEDIR.TAG, and folders that NAS and desktops keep beside photos, such as
        @eaDir and lost+found. Built-in patterns ignore conflict copies of sync
        programs (the files *.sync-conflict-* and *(*conflicted copy*)*), and what
        photo applications keep (*.photoslibrary/, *.lrdata/, *.lrcat-data, *.lrcat,
        *.lrcat.lock). A folder that is a root is indexed, whatever its name.

        photod indexes photos and videos only. It does not read XMP files beside
        photos (sidecars). A RAW file and its JPEG are two photos.

      FILES
        $XDG_CONFIG_HOME/photod/config.toml    configuration (~/.config)
        $XDG_CONFIG_HOME/user-dirs.dirs        names your pictures folder; without
                                               it, that is ~/Pictures
        $XDG_DATA_HOME/photod/catalog.sqlite   catalog (~/.local/share); beside it
                                               are its lock, backups/, and the
                                               journal catalog.userdata with your
                                               favorites, albums and edits, which
                                               restores them if the catalog is lost
        $XDG_STATE_HOME/photod                 the last commit of each library, to
                                               recognise an old copy of a catalog
                                               (~/.local/state)
        $XDG_CACHE_HOME/photod/pictures        kept pictures, which can be made
                                               again (~/.cache)
        $XDG_RUNTIME_DIR/photod/photod.sock    socket (/run/user/UID)

      START AND END
        The service of systemd starts photod at your login, or at the first request.
        After an upgrade, that photod ends when it is idle, and the next request
        starts the new one.

        A photod that you start yourself runs until you end it: with Ctrl-C, or with
        `pkill -u "$(id -u)" -x photod`. It does not end when it is idle, or when its
        package is upgraded or removed. After an upgrade, end it and start it again.

        systemd-logind makes /run/user/UID when you log in. Without such a login, as
        after `su` or in a container, set XDG_RUNTIME_DIR to a folder of your user
        with mode 700, for photod and for its clients.

      SIGNALS
        TERM, INT   photod ends in order, within 2 seconds
        HUP         photod reads the configuration again, except the paths of
                    the catalog and the socket

      ENVIRONMENT
        HOME              the folder in which the folders below are by default
        XDG_CONFIG_HOME   the folder of the configuration
        XDG_DATA_HOME     the folder of the catalog
        XDG_STATE_HOME    the folder of the last commits
        XDG_CACHE_HOME    the folder of the kept pictures
        XDG_RUNTIME_DIR   the folder of the socket
        PHOTOD_WATCH      the program photod-watch, if it is neither beside
                          photod nor in ../libexec/photod
        PHOTOD_EXTRACT    the program photod-extract, likewise
        PHOTOD_IMAGE      the program photod-image, likewise
        PHOTOD_PREVIEW    the program photod-preview, likewise
        PHOTOD_VIDEO      the program photod-video, likewise
        LISTEN_FDS        set by systemd: the socket is inherited
        NOTIFY_SOCKET     set by systemd: photod reports its state there
        WATCHDOG_USEC     set by systemd: how often photod must report
        JOURNAL_STREAM    set by systemd: the log goes to the journal

      EXIT CODES
        0   photod was asked to end, or the configuration is right
        64  an option is wrong
        70  photod has a bug, or its stop took too long
        71  the system refused a call that photod needs
        73  a file or the socket can't be made
        74  the catalog can't be read
        75  another photod is running
        78  the configuration is wrong (as a service, photod continues, and
            `photoctl status` has the reason)

      EXAMPLES
        photod                                       index your pictures folder
        photod --root ~/Photos --root /media/card    index these two folders
        photod --root . --catalog /tmp/c.sqlite --socket /tmp/p.sock
                                                     run beside another photod
        photod --check-config                        print the configuration
      """,
    version: "photod \(Daemon.version)")

  @Option(
    name: .customLong("root"),
    help: ArgumentHelp("A folder to index, with all folders below it. May be given several times.", valueName: "dir"),
    completion: .directory)
  var roots: [String] = []

  @Option(
    name: .customLong("ignore"),
    help: ArgumentHelp(
      "Files and folders to ignore: a name, or a path below a root, with * and ?. May be given several times.",
      valueName: "pattern"))
  var ignore: [String] = []

  @Option(help: ArgumentHelp("The file of the catalog.", valueName: "file"), completion: .file())
  var catalog: String?

  @Option(help: ArgumentHelp("The socket to serve.", valueName: "path"), completion: .file())
  var socket: String?

  @Option(
    help: ArgumentHelp("The configuration file. It must exist.", valueName: "file"),
    completion: .file(extensions: ["toml"]))
  var config: String?

  @Flag(help: "Print the configuration that photod would run with, as a configuration file, and end.")
  var checkConfig = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long photos are kept, in case they come back, if a scan misses many of them at once (default: 600).",
      valueName: "seconds"))
  var removalGrace: Double?

  @Option(
    help: ArgumentHelp(
      "The lowest level to log: \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")) (default: info).",
      valueName: "level"),
    completion: .list(Logger.Level.allCases.map(\.rawValue)))
  var logLevel: String?

  func validate() throws {
    if let removalGrace, !(0...ConfigurationFile.maximumGraceSeconds).contains(removalGrace) {
      throw ValidationError(
        "--removal-grace is \(Int(exactly: removalGrace).map(String.init) ?? "\(removalGrace)"); it must be 0 to \(ConfigurationFile.maximumGraceText) seconds."
      )
    }
    if let logLevel, Logger.Level(rawValue: logLevel) == nil {
      throw ValidationError(
        "--log-level is '\(logLevel)'; it must be one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))."
      )
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
