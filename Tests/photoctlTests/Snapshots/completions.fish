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
