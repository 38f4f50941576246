# The documented drop-in, hardening.conf.

dropInPassesVerificationWithoutAWord() {
  drop_in hardening <"$here/hardening.conf"
  said=$(systemd-analyze --user verify --man=no photod.service photod.socket 2>&1)
  [ -z "$said" ]
}
check dropInPassesVerificationWithoutAWord

exposureInNamespacesIsAtMostOnePointFour() {
  exposed 1.4
}
check exposureInNamespacesIsAtMostOnePointFour

worksInNamespaces() {
  begin=$(mark)
  photoctl status
  grep -E '^CapBnd:\s0+$' "/proc/$(pid)/status"
  [ "$(readlink "/proc/$(pid)/ns/user")" != "$(readlink /proc/self/ns/user)" ]
  [ "$(readlink "/proc/$(pid)/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ]
  [ "$(readlink "/proc/$(pid)/ns/net")" != "$(readlink /proc/self/ns/net)" ]
  eventually has StatusText 'live: '
  cp "$(a_photo)" "$HOME/Pictures/inside.jpg"
  photoctl sync
  photoctl query --where "filename == 'inside.jpg'" --format paths | grep inside.jpg
  photoctl favorite "$HOME/Pictures/inside.jpg"
  systemctl --user restart photod.service
  photoctl query --album Favorites --format paths | grep inside.jpg
  rm "$HOME/Pictures/inside.jpg"
  [ -z "$(journalctl --user -q -u photod.service -p warning --since "@$begin")" ]
  # The namespace has a /dev/log, to which libraries can log.
  [ -z "$(journalctl --user -q -u photod.service --since "@$begin" | grep 'thread priority')" ]
}
check worksInNamespaces

callsAreAnsweredWithShortTimeSlicesInNamespaces() {
  shortTimeSlices
}
check callsAreAnsweredWithShortTimeSlicesInNamespaces

picturesAreMadeInNamespaces() {
  makePictures 130
}
check picturesAreMadeInNamespaces

thumbnails() { find "$HOME/.cache/thumbnails" -name '*.png' | grep .; }
sharesThumbnailsInNamespaces() {
  begin=$(mark)
  echo 'share-thumbnails = true' >>"$configuration"
  systemctl --user reload photod.service
  photoctl thumbnail "$(a_photo)"
  eventually thumbnails
  [ "$(stat -c %a "$HOME/.cache/thumbnails")" = 700 ]
  sed -i '$d' "$configuration"
  systemctl --user reload photod.service
  [ -z "$(journalctl --user -q -u photod.service -p warning --since "@$begin")" ]
}
check sharesThumbnailsInNamespaces

rm -f "$units/photod.service.d/hardening.conf"
systemctl --user daemon-reload
