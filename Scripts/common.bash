# Functions of run, stop and demo. They start a daemon, and end it by its process id.

# start_daemon PROGRAMS SOCKET LOG ARGUMENT... - starts photod in the background and waits until it answers.
# Sets daemon_pid.
start_daemon() {
  local programs=$1 socket=$2 log=$3
  shift 3
  setsid "$programs/photod" --socket "$socket" "$@" </dev/null >"$log" 2>&1 &
  daemon_pid=$!
  until [ -S "$socket" ] && "$programs/photoctl" --socket "$socket" status >/dev/null 2>&1; do
    if ! kill -0 "$daemon_pid" 2>/dev/null; then
      echo 'photod did not start:' >&2
      cat "$log" >&2
      return 1
    fi
    sleep 0.05
  done
}

# is_photod PID - whether this process is a photod. Another process may have got its id.
is_photod() {
  [ "$(cat "/proc/$1/comm" 2>/dev/null)" = photod ]
}

# end_daemon PID - asks the daemon to end, and kills it after 5 seconds.
end_daemon() {
  is_photod "$1" || return 0
  kill -TERM "$1" 2>/dev/null
  for _ in $(seq 100); do
    is_photod "$1" || return 0
    sleep 0.05
  done
  echo "photod (process $1) did not end, and is killed." >&2
  kill -KILL "$1" 2>/dev/null
}
