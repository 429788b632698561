# shellcheck shell=sh disable=SC2015,SC2034,SC2154,SC3045
# The flight recorder: keeps what nobody is there to see, from the first launch on a host to the end of its last run. One a
# host and state folder. Arguments: its folder, boot, uid, seconds between two looks, bytes of a segment, and the lists of
# fields of gpus.sh.
# A spool of segments, each begun by "v 1"; times are the host's clock, seconds since 1970:
#   t TIME                 what follows was seen then
#   f FIELDS               what nvidia-smi was asked for: index, uuid and name, then the values of the "d" lines
#   G INDEX, UUID, NAME    a GPU, in this segment
#   d INDEX, VALUES        its values, as nvidia-smi prints them ("g INDEX, UUID, NAME, VALUES" in older spools)
#   h LOAD AVAILABLE ALL   load average of a minute, memory in kB
#   S N PATH               N stands for the run SESSION/STAGE/MEMBER/RUN, in this segment
#   s N INODE SIZE         its log, when that is not as it was at the look before
#   o N KIND COUNT BYTES NEWEST ALL   what it has written (KIND lines, files or bytes), when the newest of it was written, and
#                          how many bytes there will be, or "-"
flight=$1 boot=$2 uid=$3 every=$4 segment_bytes=$5 fields_1=$6 fields_2=$7 fields_3=$8
base=${flight%/*} root=${flight%/v1/*}
host=${base##*/} nonce=
segments=8
LC_ALL=C
export LC_ALL
umask 077
cd / || exit
exec </dev/null

# The time of day in $at and, for waiting, one that nobody can set in $up. A `date` each ten minutes is enough.
clock() {
  up=
  { read -r up rest </proc/uptime; } 2>/dev/null
  up=${up%.*}
  if [ -z "$up" ] || [ -z "$began" ] || [ "$up" -ge "$checked" ]; then
    at=$(date +%s)
    [ -z "$up" ] || began=$((at - up)) checked=$((up + 600))
    up=${up:-$at}
  else
    at=$((began + up))
  fi
}
# A lock made by a link has its owner's identity in it from the start. Should two take a dead owner's away at the same
# moment, one of them sees at its next round that the lock is not its own, and ends.
take_lock() {
  printf '%s\n' "$identity" >"$mine" || return 1
  tries=0
  until ln -- "$mine" "$flight/lock"; do
    if first_line "$flight/lock"; then
      ! alive "$line" || return 1
      rm -f -- "$flight/lock"
    fi
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || return 1
  done
} 2>/dev/null
is_ours() { first_line "$flight/lock" && [ "$line" = "$identity" ]; }
end() {
  trap '' TERM
  for one in "$smi" "$ticker" "$counting"; do [ -z "$one" ] || kill "$one" 2>/dev/null; done
  ! is_ours || rm -f -- "$flight/lock"
  rm -f -- "$mine"
  exit 0
}

# A disk that is full may have room again without our oldest; else there is nothing to be done here.
put() {
  printf '%s\n' "$1" >&8 || {
    drop_oldest && printf '\n%s\n' "$1" >&8
  } || end
  size=$((size + ${#1} + 1))
} 2>/dev/null
drop_oldest() {
  for oldest in "$flight"/spool.*; do
    [ "$oldest" != "$segment" ] && rm -f -- "$oldest"
    return
  done
}
stamp() {
  [ "$at" = "$stamped" ] && [ "$size" -lt "$segment_bytes" ] || {
    [ "$size" -lt "$segment_bytes" ] || new_segment
    stamped=$at
    put "t $at"
  }
}
find_segment() {
  segment=
  for one in "$flight"/spool.*; do [ ! -f "$one" ] || segment=$one; done
  size=$segment_bytes
  [ -z "$segment" ] || size=$(wc -c <"$segment")
  if [ "$size" -ge "$segment_bytes" ] && [ ! -e "$flight/spool.$at" ]; then new_segment; else open_segment; fi
}
new_segment() {
  # One a second at most, as they are named.
  [ ! -e "$flight/spool.$at" ] || return 0
  segment=$flight/spool.$at
  set -- "$flight"/spool.*
  while [ "$#" -ge "$segments" ]; do
    rm -f -- "$1"
    shift
  done
  size=0
  open_segment
}
# Each segment can be read without those before it.
open_segment() {
  (: >>"$segment") 2>/dev/null || end
  exec 8>>"$segment"
  # What was cut off by a kill ends here.
  put ''
  put 'v 1'
  [ -z "$fields" ] || put "f $fields"
  for one in $gpus; do eval "head_$one="; done
  gpus=
  for id in $running; do
    eval "path=\$path_$id last_$id="
    put "S $id $path"
  done
}

# Launches add their run to `runs` before they look for the lock, and we look at `runs` after we let go of it: a run that
# begins in that moment is seen by one of us.
open_runs() {
  # What killed ones have left.
  for one in "$flight"/.lock.* "$flight"/.pipe.*; do [ "$one" = "$mine" ] || [ ! -e "$one" ] || rm -f -- "$one"; done
  rm -f -- "$flight/runs"
  (: >>"$flight/runs") 2>/dev/null || end
  exec 6<"$flight/runs"
  for run_dir in "$base"/*/*/*/*/; do
    run_dir=${run_dir%/}
    [ ! -d "$run_dir" ] || add_run "${run_dir#"$base"/}"
  done
}
new_runs() {
  while IFS= read -r path <&6; do
    case $path in
      *[!A-Za-z0-9._/%-]* | ../* | */../* | */..) ;;
      */*/*/*) add_run "$path" ;;
    esac
  done
}
add_run() {
  for id in $running; do eval "[ \"\$path_$id\" != \"\$1\" ]" || return 0; done
  ! ended "$base/$1" && run_alive "$base/$1" && first_line "$base/$1/log" || return 0
  id=$((count + 1)) count=$id
  eval "path_$id=\$1 log_$id=\$line last_$id="
  running="$running$id "
  [ -z "$segment" ] || put "S $id $1"
}
drop_ended() {
  still=
  for id in $running; do
    eval "path=\$path_$id"
    if [ -d "$base/$path" ] && run_alive "$base/$path"; then still="$still$id "; else has_ended=1; fi
  done
}

note_host() {
  read -r load rest </proc/loadavg
  all=- available=-
  while read -r name value rest; do
    case $name in
      MemTotal:) all=$value ;;
      MemAvailable:) available=$value && break ;;
    esac
  done </proc/meminfo
  put "h $load $available $all"
} 2>/dev/null
# One `stat` for all logs. Where one of them went meanwhile, the answers cannot be told apart.
note_logs() {
  asked=
  set --
  for id in $running; do
    eval "log=\$log_$id"
    [ -f "$log" ] || continue
    asked="$asked$id "
    set -- "$@" "$log"
  done
  [ "$#" -gt 0 ] || return 0
  asked_count=$#
  # shellcheck disable=SC2046
  set -- $(stat -L -c '%i %s' -- "$@" 2>/dev/null)
  [ "$#" -eq "$((2 * asked_count))" ] || return 0
  for id in $asked; do
    eval "last=\$last_$id"
    [ "$last" = "$1 $2" ] || {
      eval "last_$id=\"\$1 \$2\""
      put "s $id $1 $2"
    }
    shift 2
  done
}

# What the runs write is looked at by outputs.sh, which tells as well what it told a window a moment ago. In the background,
# since a folder may be large or hang; one run after the other, and at a pace of 10 s no more than a five-hundredth of the time.
count_outputs() {
  if [ -n "$counting" ]; then
    ! { stat_of "$counting" && [ "$state" != Z ]; } || return 0
    wait "$counting"
    counting=
  fi
  [ "$up" -ge "$count_at" ] || return 0
  next='' first='' with_outputs=0
  for id in $running; do
    eval "path=\$path_$id"
    [ -s "$base/$path/counts" ] || continue
    with_outputs=$((with_outputs + 1))
    first=${first:-$id}
    [ -n "$next" ] || [ "$id" -le "$counted_last" ] || next=$id
  done
  next=${next:-$first}
  [ -n "$next" ] || return 0
  counted_last=$next count_at=$((up + 3 * every / with_outputs))
  eval "path=\$path_$next"
  (count_of "$next" "$base/$path/counts") >/proc/$$/fd/7 2>/dev/null 6<&- 7<&- 8>&- &
  counting=$!
}
count_of() {
  trap - TERM
  number=$1
  # shellcheck disable=SC1090
  . "$2"
  max_age=$((every / 2))
  # shellcheck disable=SC1091
  said=$(. "$flight/outputs.sh")
  kind=${count_kind:-bytes} count='' all=- took=0
  while read -r mark word one two three four; do
    case $word in
      outputs) count=$one bytes=$three newest=$four ;;
      files) count=$two bytes=$two newest=$three ;;
      total) all=$one ;;
      took) took=$one ;;
    esac
  done <<END
$said
END
  [ -z "$count" ] || printf 'o %s %s\n' "$took" "$number $kind $count $bytes $newest $all"
}
note_outputs() {
  case $line in *[!A-Za-z0-9\ -]*) return ;; esac
  # shellcheck disable=SC2086
  set -- $line
  [ "$#" -eq 8 ] || return 0
  # A folder that takes long is looked at seldom, but often enough for a stall to be seen.
  pause=$(($2 * every / 20)) at_most=$((30 * every))
  [ "$pause" -le "$at_most" ] || pause=$at_most
  [ "$((up + pause))" -le "$count_at" ] || count_at=$((up + pause))
  shift 2
  case " $running" in *" $1 "*) stamp && put "o $*" ;; esac
}
note_gpu() {
  stamp
  case $line in
    *,*,*,*) ;;
    *) return ;;
  esac
  values=${line#*,}
  values=${values#*,}
  values=${values#*,}
  head=${line%",$values"} index=${line%%,*}
  case $index in *[!0-9]* | ????*) return ;; esac
  eval "known=\$head_$index"
  [ "$head" = "$known" ] || {
    eval "head_$index=\$head"
    gpus="$gpus$index "
    put "G $head"
  }
  put "d $index,$values"
}

# A field that the driver does not know fails the whole query (exit code 2): then a shorter list is tried.
start_smi() {
  smi='' smi_at=$((up + 60))
  command -v nvidia-smi >/dev/null 2>&1 || return 0
  eval "fields=\$fields_$list"
  put "f $fields"
  # By a write end of its own: when we are gone, nvidia-smi ends with its next line.
  nvidia-smi --query-gpu="$fields" --format=csv,noheader,nounits -lms "${every}000" >/proc/$$/fd/7 2>&1 6<&- 7<&- 8>&- &
  smi=$!
}
check_smi() {
  if [ -z "$smi" ]; then
    [ "$up" -lt "$smi_at" ] || start_smi
  elif ! stat_of "$smi" || [ "$state" = Z ]; then
    wait "$smi"
    [ "$?" -eq 2 ] && [ "$list" -lt 3 ] && list=$((list + 1)) && start_smi || smi=
  fi
}

look() {
  look_at=$((up + every))
  stamp
  note_host
  note_logs
}
tick() {
  tick_at=$((up + every))
  [ -e "$segment" ] && is_ours || end
  new_runs
  has_ended=
  drop_ended
  # What a run wrote last is known when its end is.
  [ "$up" -lt "$look_at" ] && [ -z "$has_ended" ] || look
  running=$still
  [ -n "$running" ] || finish
  check_smi
  count_outputs
}
finish() {
  rm -f -- "$flight/lock"
  new_runs
  [ -n "$running" ] && take_lock || end
}

began='' checked=0 up='' at=0 stamped='' segment='' size=0 fields='' list=1 count=0 running='' smi='' smi_at=0 ticker='' mine=$flight/.lock.$$
gpus='' counting='' counted_last=0 count_at=0
stat_of "$$" || exit 0
identity="$$ $ticks $boot $uid"
take_lock || {
  rm -f -- "$mine"
  exit 0
}
trap end TERM
clock
open_runs
[ -n "$running" ] || finish
mkfifo -m 600 "$flight/.pipe.$$" 2>/dev/null || end
exec 7<>"$flight/.pipe.$$"
rm -f -- "$flight/.pipe.$$"
find "$flight" -name 'spool.*' -mtime +7 -exec rm -f {} + 2>/dev/null
find_segment
look_at=$up tick_at=$up
# dash has no `read -t` (status 2): there one bash that writes a line each time is waited for, and a `sleep` for each only
# where there is no bash.
(read -r -t 0 line <&7) 2>/dev/null
[ "$?" -ne 2 ] || {
  if command -v bash >/dev/null 2>&1; then
    : | bash --norc -c 'exec 0<>/proc/self/fd/0
while kill -0 "$1"; do read -r -t "$2"; [ "$?" -gt 128 ] || exit; echo; done' bash "$$" "$every" >/proc/$$/fd/7 2>/dev/null 6<&- 7<&- 8>&- &
  else
    while sleep "$every"; do echo; done >/proc/$$/fd/7 2>/dev/null 6<&- 7<&- 8>&- &
  fi
  ticker=$!
}
while :; do
  [ "$up" -lt "$tick_at" ] || tick
  line='' before=$up
  if [ -n "$ticker" ]; then
    IFS= read -r line <&7
  else
    # Status 1 and at once would be no time-out: then it would turn without end.
    IFS= read -r -t "$((tick_at - up))" line <&7 || {
      clock
      [ "$up" != "$before" ] || sleep 1
    }
  fi
  clock
  case $line in
    [0-9]*) note_gpu ;;
    o*) note_outputs ;;
  esac
done
