# shellcheck shell=sh disable=SC2015,SC2154
# Ends one run. In: root host boot uid session run signal grace by. It goes on to its end when the link breaks.
umask 077
trap '' HUP PIPE
refuse() {
  printf '@ refused %s\n' "$1"
  finish
}
# Every living process of ours as "pid ticks" lines: those of the job's group, if its leader is the one recorded or the
# group cannot be anybody else's, and those that carry the run's marker wherever they went.
ours() {
  found=
  marked=" $(LC_ALL=C grep -lsF "ML_SESSION_RUN=$run" /proc/[0-9]*/environ 2>/dev/null | tr '\n' ' ')"
  for entry in /proc/[0-9]*; do
    pid=${entry#/proc/}
    stat_of "$pid" || continue
    [ "$state" != Z ] && [ "$state" != X ] && [ "$pid" != "$$" ] || continue
    case $marked in
      *" $entry/environ "*) ;;
      *) [ "$group" = "$group_ours" ] || continue ;;
    esac
    found="$found$pid:$ticks "
  done
}
# A signal to one process, if it is still the one that was looked at.
signal_one() {
  stat_of "${2%%:*}" && [ "$ticks" = "${2##*:}" ] && kill -s "$1" "${2%%:*}" 2>/dev/null
}
signal_all() {
  # The group at once, so that no member sees another one die first; its leader's identity is checked right before.
  if [ -n "$leader" ] && alive "$leader"; then
    kill -s "$1" -- "-${leader%% *}" 2>/dev/null
    signalled=${leader%% *}
  else
    signalled=
  fi
  for one in $found; do
    if [ -n "$signalled" ]; then
      stat_of "${one%%:*}" && [ "$group" != "$signalled" ] || continue
    fi
    signal_one "$1" "$one"
  done
}
# Waits up to $1 tenths of a second until none is left.
wait_gone() {
  tenths=0
  while ours && [ -n "$found" ] && [ "$tenths" -lt "$1" ]; do
    tenths=$((tenths + 2))
    sleep 0.2 2>/dev/null || { sleep 1 && tenths=$((tenths + 8)); }
  done
  [ -z "$found" ]
}

dir=
for candidate in "$root/v1/$host/$session"/*/*/"$run"/; do
  [ ! -d "$candidate" ] || dir=${candidate%/}
done
if [ -z "$dir" ]; then
  for candidate in "$root"/v1/*/"$session"/*/*/"$run"/; do
    [ ! -d "$candidate" ] || refuse "This run was started on another host that shares the home folder; it can only be stopped there."
  done
  refuse "There is no record of this run on the host."
fi
first_line "$dir/version"
[ "$line" = 1 ] || refuse "A newer version of ML Session Monitor wrote this run's record; stop it from there."
leader='' group_ours=none
if first_line "$dir/process"; then
  recorded=$line
  # shellcheck disable=SC2086
  set -- $recorded
  case $1 in
    *[!0-9]* | '' | 0 | 1) recorded= ;;
  esac
  [ "$4" = "$uid" ] || [ -z "$recorded" ] || refuse "Another user started this run."
  if [ -n "$recorded" ] && alive "$recorded" && stat_of "$1" && [ "$group" = "$1" ]; then
    leader=$recorded group_ours=$1
  fi
fi
ours
if [ -z "$found" ]; then
  printf '@ not-running\n'
  finish
fi
now
{ printf '%s\n' "$by" >"$dir/stop" && printf '%s %s %s\n' "$now" "$signal" "$by" >>"$dir/events"; } 2>/dev/null
relative=${dir#"$root/v1/$host/$session/"}
printf '%s\n' "$relative" 2>/dev/null >>"$root/v1/$host/$session/changes"
signal_all "$signal"
forced=0
if ! wait_gone $((grace * 10)); then
  forced=1
  attempts=0
  # Again, since a process may have been started while the others were killed.
  while [ "$attempts" -lt 5 ]; do
    attempts=$((attempts + 1))
    signal_all KILL
    ! wait_gone 10 || break
  done
fi
if [ -z "$found" ]; then
  # The verdict belongs to what was stopped: a moment for the wrapper to write it.
  tenths=0
  until ended "$dir" || ! run_alive "$dir" || [ "$tenths" -ge 20 ]; do
    tenths=$((tenths + 1))
    sleep 0.1 2>/dev/null || sleep 1
  done
  printf '@ stopped %s\n' "$forced"
  finish
fi
for one in $found; do
  pid=${one%%:*}
  stat_of "$pid" || continue
  name=
  { IFS= read -r name || :; } 2>/dev/null <"/proc/$pid/comm"
  printf '@ survivor process %s (%s), state %s\n' "$pid" "$name" "$state"
done
finish
