# The entries of the journal, as a person reads them.

entriesAreFieldsWithoutOrnament() {
  eventually logged live
  entry=$(entry live)
  [ "$(field PRIORITY <<<"$entry")" = 5 ]
  [ "$(field SYSLOG_IDENTIFIER <<<"$entry")" = photod ]
  [ "$(field _SYSTEMD_USER_UNIT <<<"$entry")" = photod.service ]
  [ "$(field PHOTOD_FOLDERS <<<"$entry")" = 1 ]
  field MESSAGE <<<"$entry" | grep -E '^live assets=20[0-9] failed=[0-9]+ folders=1$'
}
check entriesAreFieldsWithoutOrnament

warningsHaveTheirPriority() {
  # At the first reload, this folder did not exist.
  entry configuration-remark PRIORITY=4 | field PHOTOD_REMARK | grep Absent
  journalctl --user -q -p warning -u photod.service | grep 'configuration remark'
}
check warningsHaveTheirPriority

dayIsUnderTwentyLines() {
  systemctl --user stop photod.service
  begin=$(mark)
  systemctl --user start photod.service
  eventually has StatusText 'live: '
  one=$(a_photo)
  mkdir "$HOME/Pictures/day"
  for i in $(seq 300); do cp "$one" "$HOME/Pictures/day/$i.jpg"; done
  photoctl sync
  for i in $(seq 25); do photoctl query --limit 1 && photoctl status; done >/dev/null
  photoctl favorite "$one"
  mv "$HOME/Pictures/day" "$HOME/Pictures/night"
  photoctl rescan
  timeout 0.5 photoctl watch >/dev/null || true
  systemctl --user reload photod.service
  rm -r "$HOME/Pictures/night"
  photoctl sync
  systemctl --user stop photod.service
  journalctl --user -q -u photod.service -p info --since "@$begin"
  lines=$(journalctl --user -q -u photod.service -p info --since "@$begin" | wc -l)
  [ "$lines" -gt 3 ]
  [ "$lines" -lt 20 ]
  [ -z "$(journalctl --user -q -u photod.service -p warning --since "@$begin")" ]
}
check dayIsUnderTwentyLines

stopIsNoFault() {
  # Every process of the service gets SIGTERM, as from a terminal, or with KillMode=control-group.
  photoctl status
  begin=$(mark)
  systemctl --user kill --kill-who=all --signal=TERM photod.service
  eventually is ActiveState inactive
  eventually logged stopped
  is Result success
  [ -z "$(journalctl --user -q -u photod.service -p warning --since "@$begin")" ]
}
check stopIsNoFault
