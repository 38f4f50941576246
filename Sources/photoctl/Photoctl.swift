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
    abstract: "Asks photod about your photo library, watches it, and changes it.",
    discussion: """
      photoctl talks to the photod that runs for you, over its Unix socket. What it \
      lists is a table on a terminal, and one JSON object a line in a pipe.

      PATHS AND IDS
        A number is an asset's id; a file that is called 123 is ./123.
        A relative path starts at the current directory. A path that is not UTF-8
        is written file:///..., its bytes percent-encoded, here and in JSON.

      ENVIRONMENT
        XDG_RUNTIME_DIR    where the socket is
        NO_COLOR           if it is not empty, no colours; --color comes before it
        CLICOLOR_FORCE     if it is not 0, colours also where no terminal is
        TERM               no colours if it is 'dumb'

      FILES
        $XDG_RUNTIME_DIR/photod/photod.sock    the socket (/run/user/UID/...)

      EXIT CODES
        0   done, also when nothing was found, when Ctrl-C or SIGTERM ended watch,
            and when the reader of the pipe has gone
        64  the command line is wrong
        65  a predicate, a token or a change is wrong, or a token expired; or
            check found an error
        66  there is no such asset, album, path or backup
        69  photod can't be reached, or can't work
        70  photod failed inside
        74  the output or a backup can't be written, or photod's disk is full
        75  timed out, or try again
        76  photod's answer can't be understood: versions differ
        77  not permitted

      EXAMPLES
        photoctl status                             is it well, and up to date?
        photoctl query --album Favorites            what is in an album
        photoctl query --format paths --limit 10    the newest ten, as paths
        photoctl watch                              what happens, as it happens
        photoctl why IMG_0001.jpg                   why is it not there?
      """,
    version: "photoctl \(Release.version)",
    subcommands: [
      StatusCommand.self, QueryCommand.self, WatchCommand.self, ShowCommand.self, AlbumsCommand.self,
      FavoriteCommand.self, UnfavoriteCommand.self, SyncCommand.self, RescanCommand.self, WhyCommand.self,
      BackupCommand.self, RestoreCommand.self, CheckCommand.self, ClientsCommand.self, DebugCommand.self,
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
    } catch let failure as Failure {
      end(failure, style)
    } catch {
      // Help and version end with 0, a wrong command line with 64.
      let status = exitCode(for: error)
      if status.isSuccess { exit(withError: error) }
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
      guard command is any AsyncParsableCommand else { exit(withError: error) }
      end(Failure(error, in: type(of: command).configuration.commandName ?? ""), style)
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
      "Where photod listens (default: $XDG_RUNTIME_DIR/photod/photod.sock).", valueName: "path"),
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
