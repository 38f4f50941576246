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
