# The limits of the service, and the calls that it may not make.

# bytes KEY - the size that the installed unit gives for this key, in bytes.
bytes() { sed -n "s/^$1=//p" /usr/lib/systemd/user/photod.service | numfmt --from=iec; }

limitsAreInEffect() {
  photoctl status
  is MemoryHigh "$(bytes MemoryHigh)"
  is MemoryMax "$(bytes MemoryMax)"
  is OOMPolicy continue
  is TasksMax 256
  is LimitCORE 0
  is UMask 0077
  group=/sys/fs/cgroup$(show ControlGroup)
  # The user's manager may lack some controllers. Their files are then missing.
  [ ! -e "$group/memory.max" ] || [ "$(cat "$group/memory.high" "$group/memory.max" | xargs)" = "$(bytes MemoryHigh) $(bytes MemoryMax)" ]
  [ ! -e "$group/pids.max" ] || [ "$(cat "$group/pids.max")" = 256 ]
}
check limitsAreInEffect

processesAreConfined() {
  for process in $(cat "/sys/fs/cgroup$(show ControlGroup)/cgroup.procs"); do
    grep -E '^NoNewPrivs:\s1$' "/proc/$process/status"
    grep -E '^Seccomp:\s2$' "/proc/$process/status"
  done
  # photod, photod-watch, and at least one photod-extract
  [ "$(wc -l <"/sys/fs/cgroup$(show ControlGroup)/cgroup.procs")" -ge 3 ]
}
check processesAreConfined

forbiddenCallsAreRefused() {
  # The installed unit, but with another program.
  sed -e '/^Requires=/d; /^After=/d; /^Watchdog/d; /^Restart/d; /^Type=/d' \
    -e "s|^ExecStart=.*|ExecStart=/usr/bin/python3 $here/probe.py|" \
    -e '/^\[Service\]/a Type=oneshot\nStandardOutput=file:%h/probed' \
    /usr/lib/systemd/user/photod.service >"$units/probe.service"
  systemctl --user daemon-reload
  systemctl --user start probe.service
  # systemd 252 forbids writable code with a filter of system calls, and systemd 257 with a rule of the kernel.
  diff - <(sed 's/^writable-code EACCES$/writable-code EPERM/' "$HOME/probed") <<'END'
socket-inet EAFNOSUPPORT
socket-inet6 EAFNOSUPPORT
socket-netlink EAFNOSUPPORT
socket-unix allowed
user-namespace EPERM
mount EPERM
reboot EPERM
personality EPERM
writable-code EPERM
set-user-id-file EPERM
realtime EPERM
niceness allowed
time-slice allowed
END
}
check forbiddenCallsAreRefused

# Linux before 6.12 has no time slices of threads.
shortTimeSlices() {
  photoctl status
  # A thread may end meanwhile.
  slices=$( (cat "/proc/$(pid)/task"/*/sched 2>/dev/null || :) | sed -n 's/^se\.slice *: *//p')
  [ -z "$slices" ] || grep -x 100000 <<<"$slices"
}

callsAreAnsweredWithShortTimeSlices() {
  shortTimeSlices
}
check callsAreAnsweredWithShortTimeSlices

# exposed AT_MOST - whether the exposure level of the unit with its drop-ins, by systemd-analyze, is at most this.
exposed() {
  systemd-analyze --user --no-pager security photod.service >"$HOME/security"
  grep Overall "$HOME/security"
  sed -n 's/.*Overall exposure level for photod.service: \([0-9.]*\).*/\1/p' "$HOME/security" |
    awk -v most="$1" 'NR == 1 { low = $1 <= most } END { exit !(NR == 1 && low) }'
}

exposureIsAtMostSix() {
  exposed 6.0
}
check exposureIsAtMostSix

# The programs that read and decode files keep within the restrictions of the unit. A session gets the embedded picture of
# the photo from photod-preview, and the new one from photod-image. The camera and the date are from photod-extract.
makePictures() {
  cp "$(a_photo)" "$HOME/Pictures/picture.jpg"
  cp "$here/VID_rotated.mp4" "$HOME/Pictures/film.mp4"
  photoctl sync
  fields=filename,camera.model,creationDateSource
  [ "$(photoctl query --where "filename == 'picture.jpg'" --fields $fields --format tsv | tail -1)" = \
    $'picture.jpg\tDMC-FZ30\tmetadata' ]
  id=$(photoctl query --where "filename == 'picture.jpg'" --fields id --format tsv | tail -1)
  diff - <(python3 "$here/show.py" "$socket" "$id" "$1") <<END
degraded image/jpeg, smaller
final image/jpeg, $1 pixels
END
  photoctl thumbnail "$HOME/Pictures/picture.jpg" "$HOME/Pictures/film.mp4" --size "$1"
  rm "$HOME/Pictures/picture.jpg" "$HOME/Pictures/film.mp4"
}

picturesAreMadeUnderTheUnit() {
  makePictures 100
}
check picturesAreMadeUnderTheUnit
