import ArgumentParser

struct CompletionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completions",
    abstract: "Prints the completion script for your shell.",
    discussion: """
      The script completes commands, options and their values. It asks the running photod for titles of albums, cameras, \
      lenses, keywords and backups, and for the values of --where. Without photod, these are missing. Within the quotes \
      of --where, Tab completes keys, operators and values, for example after 'camera.model == "NI.

      FILES
        bash    ~/.local/share/bash-completion/completions/photoctl
        zsh     _photoctl in a folder of $fpath
        fish    ~/.config/fish/completions/photoctl.fish

      EXAMPLES
        photoctl completions fish >~/.config/fish/completions/photoctl.fish
        source <(photoctl completions bash)      for this bash or zsh only
      """)

  @Argument(help: "The shell: bash, zsh or fish.")
  var shell: Shell

  func run() async throws { try Output.put(shell.script) }
}
