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
