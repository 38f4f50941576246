# Another build replaces the running one, as the update of a package does: a new file is renamed over the old one.

version() { photoctl status | sed -n 's/^photod \([^,]*\),.*/\1/p'; }

oldDaemonLeavesWhenIdleAndTheNewOneAnswers() {
  mkdir -p "$HOME/bin"
  cp /usr/bin/photod /usr/libexec/photod/photod-watch /usr/libexec/photod/photod-extract "$HOME/bin"
  printf '[Service]\nExecStart=\nExecStart=%%h/bin/photod\n' | drop_in update
  systemctl --user restart photod.service
  one=$(a_photo) old=$(version)
  eventually has StatusText 'live: '
  photoctl favorite "$one"
  node=$(stat -c %i "$socket")
  before=$(pid)
  photoctl watch >/dev/null 2>&1 &
  watching=$!
  trap 'kill $watching' EXIT
  eventually streams 1

  cp "$HOME/bin/photod" "$HOME/bin/photod.new"
  # Another version with the same number of bytes.
  new=9${old#?}
  sed -i "s/\\x00${old//./\\.}\\x00/\\x00$new\\x00/g" "$HOME/bin/photod.new"
  mv "$HOME/bin/photod.new" "$HOME/bin/photod"
  eventually logged replaced _PID="$before"
  [ "$(entry replaced | field PRIORITY)" = 5 ]
  # This is longer than photod waits for a quiet moment. It must not end, because the stream is open.
  sleep 6.5
  is MainPID "$before"
  [ "$(version)" = "$old" ]

  kill $watching
  trap - EXIT
  eventually is ActiveState inactive
  is Result success
  is NRestarts 0
  eventually logged stopped _PID="$before"
  [ "$(show ActiveState photod.socket)" = active ]

  [ "$(version)" = "$new" ]
  [ "$(pid)" != "$before" ]
  [ "$(readlink "/proc/$(pid)/exe")" = "$HOME/bin/photod" ]
  [ "$(stat -c %i "$socket")" = "$node" ]
  eventually has StatusText 'live: '
  [ "$(photoctl query --album Favorites --format paths)" = "$one" ]
  [ "$(journalctl --user -q _PID="$before" PHOTOD_MESSAGE=replaced | wc -l)" = 1 ]
}
check oldDaemonLeavesWhenIdleAndTheNewOneAnswers

rm -f "$units/photod.service.d/update.conf"
systemctl --user daemon-reload
systemctl --user stop photod.service 2>/dev/null
