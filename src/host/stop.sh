# shellcheck shell=sh disable=SC2013,SC2015,SC2154
# Ends one run. In: root host boot uid session run signal grace by. It goes on to its end when the link breaks.
umask 077
trap '' HUP PIPE
refuse() {
  printf '@ refused %s\n' "$1"
  finish
}
# The mark counts as a whole entry of an environment: the same text in an argument or in another value is none. A grep that
# knows no -z looks at lines.
if printf 'a\0b\0' | grep -qzxF b 2>/dev/null; then
  carriers() { LC_ALL=C grep -lszxF "ML_SESSION_RUN=$run" /proc/[0-9]*/environ 2>/dev/null | tr '\n' ' '; }
else
  carriers() {
    for carrier in $(LC_ALL=C grep -lsF "ML_SESSION_RUN=$run" /proc/[0-9]*/environ 2>/dev/null); do
      ! tr '\0' '\n' 2>/dev/null <"$carrier" | grep -qxF "ML_SESSION_RUN=$run" || printf '%s ' "$carrier"
    done
  }
fi
# Every living process of ours as "pid:ticks": those of the job's group, if its leader is the one recorded; those that
# carry the run's mark wherever they went; those that were found before; and what these have started without any mark of
# its own. Of another user none, in $others: they are told of and left alone.
ours() {
  found='' others='' kin=''
  marked=" $(carriers)"
  for entry in /proc/[0-9]*; do
    pid=${entry#/proc/}
    stat_of "$pid" || continue
    [ "$state" != Z ] && [ "$state" != X ] && [ "$pid" != "$$" ] || continue
    if case $marked in *" $entry/environ "*) ;; *) false ;; esac ||
      [ "$group" = "$group_ours" ] ||
      case " $everyone" in *" $pid:$ticks "*) ;; *) false ;; esac then
      take_one "$pid"
    else
      kin="$kin$pid:$ticks:$parent "
    fi
  done
  [ -z "$found" ] || descend
  for one in $found; do
    case " $everyone" in *" $one "*) ;; *) everyone="$everyone$one " ;; esac
  done
}
take_one() {
  owner_of "$1" || return 0
  if [ "$owner" = "$uid" ]; then found="$found$1:$ticks "; else others="$others$1 "; fi
}
descend() {
  grown=1
  while [ "$grown" = 1 ]; do
    grown=0
    rest=
    for one in $kin; do
      pid=${one%%:*} ticks=${one#*:}
      parent=${ticks#*:} ticks=${ticks%%:*}
      case " $found" in
        *" $parent:"*)
          grep -qsF ML_SESSION_RUN= "/proc/$pid/environ" || {
            take_one "$pid"
            grown=1
          }
          ;;
        *) rest="$rest$one " ;;
      esac
    done
    kin=$rest
  done
}
# A signal to one process, if it is still the one that was looked at.
signal_one() {
  stat_of "${2%%:*}" && [ "$ticks" = "${2##*:}" ] && kill -s "$1" "${2%%:*}" 2>/dev/null
}
signal_all() {
  # The group at once, so that no member sees another one die first; its leader's identity is checked right before. Where
  # somebody else is among them each gets its own.
  signalled=
  if [ -z "$others" ] && [ -n "$leader" ] && alive "$leader"; then
    kill -s "$1" -- "-${leader%% *}" 2>/dev/null
    signalled=${leader%% *}
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
# Lines of the driver about processes of ours, dead or alive, into $holding; about others on $gpus into $strangers.
look_at_gpus() {
  holding='' strangers=''
  for app in $(gpu_apps | tr ' ' ':'); do
    app_pid=${app%%:*} app_mib=${app##*:}
    app_uuid=${app#*:}
    app_uuid=${app_uuid%:*}
    case " $everyone" in
      *" $app_pid:"*)
        holding="$holding$app_pid:$app_mib "
        case " $gpus" in *" $app_uuid "*) ;; *) gpus="$gpus$app_uuid " ;; esac
        ;;
      *)
        case " $gpus" in *" $app_uuid "*) strangers="$strangers$app_pid:$app_mib " ;; esac
        ;;
    esac
  done
}
# The driver gives memory back a moment after its process is gone.
wait_freed() {
  tenths=0
  look_at_gpus
  while [ -n "$holding" ] && [ "$tenths" -lt 50 ]; do
    tenths=$((tenths + 10))
    sleep 1
    look_at_gpus
  done
  [ -z "$holding" ]
}
tell_others() {
  for pid in $others; do
    stat_of "$pid" && owner_of "$pid" || continue
    name_of "$pid"
    printf '@ other process %s (%s) of %s carries the mark of this run, or is in its group\n' "$pid" "$name" "$(user_of "$pid")"
  done
  for one in $strangers; do
    pid=${one%%:*}
    stat_of "$pid" && owner_of "$pid" || continue
    name_of "$pid"
    printf '@ other process %s (%s) of %s holds %s MiB of a GPU that this run used\n' "$pid" "$name" "$(user_of "$pid")" "${one##*:}"
  done
}
user_of() { stat -c %U "/proc/$1" 2>/dev/null || printf %s "$owner"; }

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
leader='' group_ours=none everyone='' gpus='' strangers=''
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
  tell_others
  finish
fi
now
# What is left over of a run that ended by itself does not change how it ended.
{ { ended "$dir" || printf '%s\n' "$by" >"$dir/stop"; } && printf '%s %s %s\n' "$now" "$signal" "$by" >>"$dir/events"; } 2>/dev/null
relative=${dir#"$root/v1/$host/$session/"}
printf '%s\n' "$relative" 2>/dev/null >>"$root/v1/$host/$session/changes"
look_at_gpus
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
  if wait_freed; then printf '@ stopped %s\n' "$forced"; fi
  for one in $holding; do
    printf '@ survivor %s MiB of GPU memory that process %s held, which is gone\n' "${one##*:}" "${one%%:*}"
  done
  tell_others
  finish
fi
for one in $found; do
  pid=${one%%:*}
  stat_of "$pid" || continue
  name_of "$pid"
  printf '@ survivor process %s (%s), state %s\n' "$pid" "$name" "$state"
done
tell_others
finish
