import ArgumentParser

struct CompletionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completions",
    abstract: "Prints the completions for your shell.",
    discussion: """
      They know the commands and their options, and ask the running photod for the titles of albums and for keys.

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
