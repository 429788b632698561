# shellcheck shell=sh disable=SC2015,SC2034,SC2094,SC2154,SC3013
# Follows one file on a channel of its own, by GNU tail. In: what logFile.sh needs, and silence_limit.
# Standard output is nothing but bytes of ONE inode from the offset that is told on standard error, so no boundary has
# to be guessed: when the file is cut or replaced, this script ends, and the product starts the next one. tail is made to
# end at the first complaint (a cut file) by a standard error that nobody reads: SIGPIPE comes before the new bytes.
beat() { tell beat; }
tell() { printf '@ %s\n' "$1" >&2; }
# Bytes as they come, from $offset; false when the file was replaced before tail had opened it.
start_tail() {
  bell=$(mktemp -d 2>/dev/null) && mkfifo "$bell/bell" 2>/dev/null || return 2
  exec 5<>"$bell/bell" 6>"$bell/bell" 5<&-
  rm -rf -- "$bell"
  # -s is how often it looks whether we live, and for new bytes where the file system tells of none: tail waits to be told
  # where it knows that all who write are on this machine. Each look costs.
  case $(stat -f -c %T -- "$open_path" 2>/dev/null) in
    ext* | xfs | btrfs | tmpfs | f2fs | zfs) look_each=15 ;;
    *) look_each=$((2 * pace)) ;;
  esac
  LC_ALL=C tail -c "+$((offset + 1))" -f -s "$look_each" --pid="$$" -- "$open_path" 2>&6 6>&- 7>&- 8<&- &
  child=$!
  exec 6>&-
  tries=0
  # What tail opened, its first descriptor, is the very inode we looked at. Ours is the eighth, since a child that is not
  # tail yet still has all of ours.
  until [ "/proc/$child/fd/3" -ef /proc/self/fd/8 ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] && stat_of "$child" && [ "$state" != Z ] && [ "$open_path" -ef /proc/self/fd/8 ] || return 1
    sleep 0.02 2>/dev/null || sleep 1
  done
}
tell_file() { tell "$1 $how $device $inode $offset $size $modified_ms $lost ${lost_more:-0}"; }
# Where a job goes on in a file that was cut shows only when it writes again.
await_growth() {
  [ "$size" -gt 0 ] || tell_file emptied
  while [ "$size" -eq 0 ]; do
    pause 1
    tick 1
    [ "$open_path" -ef /proc/self/fd/8 ] && look || return 1
    start="position $device $inode 0" check=''
    [ "$size" -eq 0 ] || choose || return 1
  done
}
# Whether the path still names what is being read.
check_name() {
  if [ "$how" != rest ] && [ "$how" != between ] && [ "$path" -ef /proc/self/fd/8 ]; then
    last_size=
    [ -z "$gone" ] || tell back
    gone=
  else
    moved
  fi
}
# The path names another file, or none. The old one is read on until it has been quiet for a round; then its size is told
# and the product goes on with the new one. A file that is only gone is read on until there is another.
moved() {
  if [ "$how" = rest ] || [ "$how" = between ] || [ -e "$path" ]; then
    look
    if [ "$size" = "$last_size" ] || ! fresh "$modified"; then
      tell "moved $size $modified_ms"
      last_size=
      # The product closes the channel when it has read that far.
      while :; do
        pause 5
        tick 5
      done
    fi
    last_size=$size
  elif [ -z "$gone" ]; then
    gone=1
    tell gone
  fi
}
# How long the next round is, seconds: each one wakes a shell, which is what following a quiet log costs. The old file's last
# bytes are waited for in short ones; long ones are for a log that has not grown for a minute. tail's own place in the
# file shows that, without a process.
choose_round() {
  read -r word place rest <"/proc/$child/fdinfo/3"
  still=$((still + round))
  [ "$place" = "$last_place" ] || still=0
  last_place=$place
  if [ "$open_path" != "$real" ] || [ -n "$last_size" ]; then
    round=1
  elif [ "$still" -lt 60 ] || [ "$silence_limit" -lt 90 ] || [ "$pace" -gt 3 ]; then
    round=$((5 * pace))
  else
    round=15
  fi
} 2>/dev/null
work() {
  work_begins
  begin
  whole_path
  last_size='' gone=''
  state_of_path || {
    tell "$log_state"
    work_ends
  }
  choose && {
    [ "$how" != cut ] && [ "$offset$how" != 0same ] || await_growth
  } && start_tail
  case $? in
    1)
      tell again
      work_ends
      ;;
    2)
      tell no-tail
      work_ends
      ;;
  esac
  tell_file opened
  round=0 still=0 last_place=
  while :; do
    choose_round
    pause "$round"
    tick "$round"
    # One that has ended has no files; cheaper than its state.
    [ "/proc/$child/fd/3" -ef /proc/self/fd/8 ] || {
      child=
      work_ends
    }
    check_name
  done
}
serve
