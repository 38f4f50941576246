import ArgumentParser
import PhotoClient
import PhotoModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@main
struct Photoctl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "photoctl",
    abstract: "Queries, watches and changes the photo library of photod.",
    discussion: """
      photoctl connects to your photod over its Unix socket. It prints lists as a table \
      on a terminal, and as one JSON object on each line in a pipe.

      PATHS AND IDS
        A number is the id of an asset. For a file that is called 123, write ./123.
        A relative path starts at the current directory. A path that is not UTF-8
        is written as file:///... with its bytes percent-encoded, here and in JSON.

      TERMS
        asset    a photo, a video or a sound recording with its id and its files;
                 most texts call it a photo
        commit   the changes that photod makes to the library at one time: all of
                 them, or none
        token    a text that names the state of the library after a commit; with it,
                 `photoctl watch --since` continues without missing a change
        origin   what caused a commit, such as watcher (a change in the folders) or
                 client:NAME (a program); `photoctl help watch` lists them
        root     a folder that photod indexes, with all folders below it

      ENVIRONMENT
        PHOTOD_SOCKET      the socket, if --socket is not given
        XDG_RUNTIME_DIR    the folder of the socket, if neither is given
        PHOTOD_EXTRACT     the program photod-extract for `photoctl debug extract`
        XDG_STATE_HOME     the folder of the tokens of `photoctl watch --exec`
        NO_COLOR           turns colours off if it is not empty; --color overrides it
        CLICOLOR_FORCE     turns colours on without a terminal if it is not 0
        TERM               turns colours off if it is 'dumb'

      FILES
        $XDG_RUNTIME_DIR/photod/photod.sock    the socket (/run/user/UID/...)

      EXIT CODES
        0   success, also if nothing was found, if Ctrl-C or SIGTERM ended a
            watch, or if the reader of the pipe has gone
        1   the command of `photoctl watch --exec` failed
        64  the command line is wrong
        65  a predicate, a token or a change is wrong, a token has expired, or
            `photoctl check` found an error
        66  there is no such asset, album, path or backup
        69  photod can't be reached, or can't do its work
        70  photod has an internal error
        74  the output or a backup can't be written, or the catalog's disk is full
        75  the time is over, or the call must be tried again
        76  photod's reply can't be understood: the versions differ
        77  the call is not permitted

      EXAMPLES
        photoctl status                             the state, and all warnings
        photoctl query --album Favorites            the photos of an album
        photoctl query --format paths --limit 10    the newest ten, as paths
        photoctl stats --by camera                  how many photos of each camera
        photoctl thumbnail 42 --output .            a small picture, 42.jpg
        photoctl edit 42 --title "Rome" --rating 4  a title and a rating
        photoctl albums create Best                 an album of your own
        photoctl undo                               take the last change back
        photoctl watch                              changes as they happen
        photoctl why IMG_0001.jpg                   why is it not in the library?
      """,
    version: "photoctl \(Release.version)",
    subcommands: [
      StatusCommand.self, QueryCommand.self, StatsCommand.self, WatchCommand.self, ShowCommand.self,
      ThumbnailCommand.self, AlbumsCommand.self, EditCommand.self, FavoriteCommand.self, UnfavoriteCommand.self,
      HideCommand.self, UnhideCommand.self,
      UndoCommand.self, ExportCommand.self, ImportCommand.self, SyncCommand.self, RescanCommand.self, WhyCommand.self,
      BackupCommand.self, RestoreCommand.self, CheckCommand.self, ImagesCommand.self, ClientsCommand.self,
      DebugCommand.self,
      CompletionsCommand.self,
    ])

  @OptionGroup var connection: ConnectionOptions

  // It does not run on the main actor: nothing needs that thread, and its callbacks would trap on any other.
  nonisolated static func main() async {
    Output.occupyClosedDescriptors()
    // With this, a closed pipe is an error of write(2), which ends the command quietly.
    signal(SIGPIPE, SIG_IGN)
    var arguments = CommandLineBytes.arguments()
    // With the parser's own scripts, bash would expand text from a daemon.
    if arguments.first == "--generate-completion-script" { arguments[0] = "completions" }
    if arguments.first == Completion.request {
      await Completion.answer(Array(arguments.dropFirst()))
      return
    }
    let style = Style(UsageError.color(of: arguments), isTerminal: Output.isErrorTerminal)
    let command: any ParsableCommand
    do {
      if let failure = UsageError.unknownCommand(in: arguments) { throw failure }
      command = try parseAsRoot(arguments)
      if let failure = EmptyArgument.failure(in: arguments, of: name(of: type(of: command))) { throw failure }
    } catch let failure as Failure {
      end(failure, style)
    } catch {
      // Help and version end with 0, a wrong command line with 64.
      let status = exitCode(for: error)
      if status.isSuccess { exit(withError: error) }
      if let failure = unknownOption(in: arguments) ?? UsageError.exportedFile(in: arguments) { end(failure, style) }
      Output.complain(UsageError.text(fullMessage(for: error), style: style))
      exit(withError: status)
    }
    do {
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        var command = command
        try command.run()
      }
    } catch is ClosedPipe {
      exit(withError: nil)
    } catch let request as CleanExit {
      // photoctl without a command prints its help.
      exit(withError: request)
    } catch {
      // Help is a command of the parser, which throws the text that it prints.
      guard command is any AsyncParsableCommand || error is Failure else { exit(withError: error) }
      end(Failure(error, in: name(of: type(of: command))), style)
    }
  }

  /// The words with which a command is called, such as `albums create`.
  static func name(of command: any ParsableCommand.Type) -> String {
    let own = command.configuration.commandName ?? ""
    let group = configuration.subcommands.first { $0.configuration.subcommands.contains { $0 == command } }
    return group.map { "\($0.configuration.commandName ?? "") \(own)" } ?? own
  }

  /// The failure for an unknown option; nil if there is none, or if the parser's description can't be read.
  private static func unknownOption(in arguments: [String]) -> Failure? {
    do {
      return UnknownOption.failure(in: arguments, of: try CommandDescription(dump: _dumpHelp()))
    } catch {
      return nil
    }
  }

  private static func end(_ failure: Failure, _ style: Style) -> Never {
    Output.complain(failure.text(style: style))
    exit(withError: ExitCode(failure.status.rawValue))
  }
}

/// The socket of photod, and the use of colours. These options may come before or after a command.
struct ConnectionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The socket of photod (default: $PHOTOD_SOCKET, else $XDG_RUNTIME_DIR/photod/photod.sock).", valueName: "path"),
    completion: .file())
  var socket: String?

  @Option(help: "When to use colours (default: auto, on terminals).")
  var color: ColorChoice?

  var library: PhotoLibrary {
    PhotoLibrary(socketPath: socket ?? PhotoLibrary.defaultSocketPath, clientName: "photoctl")
  }

  /// The style for standard output.
  var style: Style { Style(color ?? .auto, isTerminal: Output.isTerminal) }
}
