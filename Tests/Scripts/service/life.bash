# Start, status and reload, and the restart of a photod that died.

unitsPassVerificationWithoutAWord() {
  said=$(systemd-analyze --user verify --man=no photod.service photod.socket 2>&1)
  [ -z "$said" ]
}
check unitsPassVerificationWithoutAWord

socketIsForItsUserAlone() {
  [ "$(stat -c %a "$XDG_RUNTIME_DIR/photod" "$socket" | xargs)" = '700 600' ]
}
check socketIsForItsUserAlone

firstConnectionStartsTheService() {
  is ActiveState inactive
  photoctl status
  is ActiveState active
}
check firstConnectionStartsTheService

startReturnsWhenItAnswers() {
  systemctl --user stop photod.service
  systemctl --user start photod.service
  is Type notify
  is ActiveState active
  is SubState running
  # READY came with a status.
  [ -n "$(show StatusText)" ]
  photoctl status | grep '^photod '
}
check startReturnsWhenItAnswers

statusTellsPhotosAndFolders() {
  eventually is StatusText 'live: 204 photos, 1 folder'
  systemctl --user --no-pager status photod.service | grep 'Status: "live: 204 photos, 1 folder"'
}
check statusTellsPhotosAndFolders

runsInTheBackgroundSlice() {
  grep '/background.slice/photod.service$' "/proc/$(pid)/cgroup"
}
check runsInTheBackgroundSlice

reloadTakesTheNewConfiguration() {
  mkdir -p "$HOME/More"
  printf 'roots = ["~/Pictures", "~/More", "~/Absent"]\n' >"$configuration"
  before=$(pid)
  systemctl --user reload photod.service
  eventually has StatusText '204 photos, 3 folders'
  eventually logged reloaded
  # RELOADING=1 was followed by READY=1.
  eventually is ActiveState active
  is ReloadResult success
  is MainPID "$before"
}
check reloadTakesTheNewConfiguration

brokenConfigurationIsToldAndTheOldOneGoesOn() {
  printf 'rots = 1\n' >"$configuration"
  systemctl --user reload photod.service
  eventually logged reload-failed PRIORITY=3
  entry reload-failed | field PHOTOD_PROBLEM | grep 'config.toml:1: unknown key "rots"'
  eventually has StatusText 'unknown key "rots"'
  has StatusText '3 folders'
  is ActiveState active
  rm "$configuration"
  systemctl --user reload photod.service
  eventually has StatusText 'live: 204 photos, 1 folder'
}
check brokenConfigurationIsToldAndTheOldOneGoesOn

brokenConfigurationAtStartLeavesItAnswering() {
  printf 'rots = 1\n' >"$configuration"
  systemctl --user restart photod.service
  eventually has StatusText 'degraded: '
  has StatusText 'unknown key "rots"'
  photoctl status | grep '^degraded'
  eventually logged degraded PRIORITY=3
  before=$(pid)
  rm "$configuration"
  systemctl --user reload photod.service
  eventually has StatusText 'live: 204 photos, 1 folder'
  is MainPID "$before"
}
check brokenConfigurationAtStartLeavesItAnswering

deadWatcherIsToldOnceAndStartedAgain() {
  before=$(pid) begin=$(mark)
  watcher() { pgrep -P "$before" -x photod-watch; }
  old=$(watcher)
  kill -KILL "$old"
  another() { [ -n "$(watcher)" ] && [ "$(watcher)" != "$old" ]; }
  eventually another
  eventually logged photod-watch-died PRIORITY=3
  eventually logged photod-watch-started PRIORITY=6
  eventually has StatusText 'live: 204 photos, 1 folder'
  [ "$(journalctl --user -q -p warning --since "@$begin" -u photod.service | wc -l)" = 1 ]
  is MainPID "$before"
}
check deadWatcherIsToldOnceAndStartedAgain

waitsAreThoseOfTheUnit() {
  is WatchdogUSec 1min
  is RestartUSec 3s
  is Restart on-failure
  is StartLimitIntervalUSec 0
}
check waitsAreThoseOfTheUnit

# From here on, these times are shorter than in the installed unit. Everything else is the same.
printf '[Service]\nWatchdogSec=3s\nRestartSec=200ms\n' | drop_in impatient
systemctl --user restart photod.service

hungDaemonIsKilledAndStartedAgain() {
  before=$(pid)
  kill -STOP "$before"
  restarted() { case "$(pid)" in 0 | "$before") return 1 ;; esac; }
  eventually restarted
  is NRestarts 1
  photoctl status
}
check hungDaemonIsKilledAndStartedAgain

livingDaemonIsLeftAlone() {
  before=$(pid)
  # This time is longer than the watchdog waits. The test is about time.
  sleep 4
  is MainPID "$before"
}
check livingDaemonIsLeftAlone

crashKeepsTheSocketAndLosesNothing() {
  before=$(pid) node=$(stat -c %i "$socket")
  photoctl watch >"$HOME/watched" 2>&1 &
  watching=$!
  eventually streams 1
  kill -ABRT "$before"
  # photoctl connects before the next photod runs, and waits for it.
  photoctl status
  [ "$(pid)" != "$before" ]
  [ "$(stat -c %i "$socket")" = "$node" ]
  # A client that observed continues from its last token.
  if wait $watching; then return 1; fi
  token=$(sed -n 's/.*continue with `--since \([^`]*\)`.*/\1/p' "$HOME/watched")
  cp "$(a_photo)" "$HOME/Pictures/after-the-crash.jpg"
  photoctl sync
  timeout 5 photoctl watch --since "$token" --format jsonl | head -1 | grep insertedAssets
}
check crashKeepsTheSocketAndLosesNothing

# The following checks give photod work. On a busy machine, it may need more than three seconds between two pings.
printf '[Service]\nWatchdogSec=20s\nRestartSec=200ms\n' | drop_in impatient
systemctl --user restart photod.service
