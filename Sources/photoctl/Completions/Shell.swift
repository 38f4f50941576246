import ArgumentParser

/// A shell, and its script that calls ``Completion``.
enum Shell: String, ExpressibleByArgument, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The script for the shell's own folder of completions.
  var script: String {
    switch self {
    case .bash: Self.bashScript
    case .zsh: Self.zshScript
    case .fish: Self.fishScript
    }
  }

  private static let bashScript = #"""
    # Completions of photoctl for bash, 4.4 or later.
    _photoctl() {
      local -a lines
      local program=$1
      [[ $program != '~/'* ]] || program=$HOME/${program#'~/'}
      COMPREPLY=()
      mapfile -t lines < <("$program" ---complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
      case ${lines[0]-} in
        # Without candidates bash completes names of files by itself.
        files) return ;;
        folders) compopt -o dirnames; return ;;
        *nospace) compopt -o nospace ;;
      esac
      compopt +o default
      COMPREPLY=("${lines[@]:1}")
    }
    complete -o default -F _photoctl photoctl

    """#

  // The function keeps the options that zsh sets for all completions: `_files` fails without NULL_GLOB, if several
  // folders begin with the same name.
  private static let zshScript = #"""
    #compdef photoctl
    # Completions of photoctl for zsh, 5 or later.
    _photoctl() {
      local -a lines values shown suffix
      local line program=${(Q)words[1]}
      program=${program/#\~\//$HOME/}
      lines=("${(@f)$("$program" ---complete zsh "${(@Q)words[1,CURRENT-1]}" "${QIPREFIX#\$}$PREFIX" 2>/dev/null)}")
      case $lines[1] in
        files) compset -P '--*='; _files; return ;;
        folders) compset -P '--*='; _files -/; return ;;
        *nospace) suffix=(-S '') ;;
      esac
      for line in "${(@)lines[2,-1]}"; do
        values+=("${line%%$'\t'*}")
        shown+=("${${line%$'\t'}/$'\t'/  -- }")
      done
      (( $#values )) || return 1
      compadd -l -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}' "${(@)suffix}" -d shown -a values
    }
    if [[ $funcstack[1] = _photoctl ]]; then
      _photoctl "$@"
    else
      compdef _photoctl photoctl
    fi

    """#

  private static let fishScript = #"""
    # Completions of photoctl for fish, 3 or later.
    function __photoctl_complete
        # Without quotes: -x since fish 4, -o before.
        set -l words (commandline -xpc 2>/dev/null)
        or set words (commandline -opc)
        command $words[1] ---complete fish $words (commandline -ct | string collect -a)[1] 2>/dev/null
    end
    function __photoctl_complete_words
        set -l lines (__photoctl_complete)
        string match -q 'words*' -- "$lines[1]"; or return
        set -e lines[1]
        printf '%s\n' $lines
    end
    # fish itself knows best how names of files are completed.
    function __photoctl_wants_files
        set -l lines (__photoctl_complete)
        string match -q -r '^(files|folders)$' -- "$lines[1]"
    end
    complete -c photoctl -e
    complete -c photoctl -n __photoctl_wants_files -F
    complete -c photoctl -n 'not __photoctl_wants_files' -f -k -a '(__photoctl_complete_words)'

    """#
}
