# The state of the system after the service and the socket were stopped.

stoppingTheServiceKeepsTheSocket() {
  systemctl --user stop photod.service
  [ "$(show ActiveState photod.socket)" = active ]
  photoctl status
  is ActiveState active
}
check stoppingTheServiceKeepsTheSocket

stoppingTheSocketRemovesIt() {
  systemctl --user stop photod.socket photod.service
  [ ! -e "$socket" ]
}
check stoppingTheSocketRemovesIt
