# shellcheck shell=sh disable=SC2015,SC2034,SC2094,SC2154,SC3013
# Follows one file on a channel of its own. In: path; start ("end BYTES" or "position DEVICE INODE OFFSET"); check, the
# cksum of the 64 bytes before OFFSET, or nothing; gnu_tail (1 or nothing).
# Standard output is nothing but bytes of ONE inode from the offset that is told on standard error, so no boundary has
# to be guessed: when the file is cut or replaced, this script ends, and the product starts the next one. tail is made to
# end at the first complaint (a cut file) by a standard error that nobody reads: SIGPIPE comes before the new bytes.
beat() { tell beat; }
tell() { printf '@ %s\n' "$1" >&2; }
# Device, inode, size and modification time of what descriptor 8 has.
look() {
  # shellcheck disable=SC2046
  set -- $(stat -L -c '%d %i %s %Y' /proc/self/fd/8 2>/dev/null <&8)
  device=$1 inode=$2 size=$3 modified=$4
  [ -n "$modified" ]
}
# The file that has inode $2 of device $1 in the folder of the path, or whose bytes before the offset are those we gave.
find_rest() {
  rest=$(cd -- "$folder" && find . -maxdepth 1 -type f -inum "$want_inode" 2>/dev/null | head -n 1)
  rest=${rest:+$folder/${rest#./}}
  [ -n "$rest" ] && [ -f "$rest" ] && [ "$(stat -c %d -- "$rest" 2>/dev/null)" = "$want_device" ]
}
find_copy() {
  [ -n "$check" ] || return 1
  window=64
  [ "$want_offset" -ge 64 ] || window=$want_offset
  for rest in "$real".* "$real"-* "$folder"/*; do
    [ -f "$rest" ] && [ -r "$rest" ] && ! [ "$rest" -ef "$real" ] || continue
    rest_size=$(stat -L -c %s -- "$rest" 2>/dev/null)
    [ "${rest_size:-0}" -ge "$want_offset" ] || continue
    [ "$(dd if="$rest" bs=1 skip=$((want_offset - window)) count="$window" 2>/dev/null | cksum)" = "$check" ] && return 0
  done
  rest=
  return 1
}
# Waits until there is a regular file that can be read; says once what is in the way.
wait_for_file() {
  said=
  while :; do
    if [ -d "$path" ]; then
      state_now="unreadable It is a folder."
    elif [ -e "$path" ] && [ ! -f "$path" ]; then
      state_now="unreadable It is not a regular file."
    elif [ -f "$path" ] && [ ! -r "$path" ]; then
      state_now="unreadable Reading it is not permitted."
    elif [ -f "$path" ]; then
      return
    elif [ -e "${path%/*}" ] && [ ! -x "${path%/*}" ]; then
      state_now="unreadable Its folder may not be looked into."
    else
      state_now=missing
    fi
    [ "$state_now" = "$said" ] || tell "$state_now"
    said=$state_now
    pause 1
    tick 1
  done
}
# Of the files that were rotated after the one that was read to its end, the oldest. Only names with a number or a date
# after them: a log's neighbour may be anything.
find_next() {
  after=$rest rest='' oldest=''
  names=$(cd -- "$folder" && find . -maxdepth 1 -type f -newer "./${after##*/}" -name '*[.-][0-9]*' 2>/dev/null)
  for rest in "$real".[0-9]* "$real"-[0-9]*; do
    case ${rest##*/} in *.gz | *.xz | *.zst | *.bz2) continue ;; esac
    case "
$names
" in *"
./${rest##*/}
"*) ;; *) continue ;; esac
    [ -r "$rest" ] && ! [ "$rest" -ef "$real" ] || continue
    [ -n "$oldest" ] && ! [ "$rest" -ot "$oldest" ] || oldest=$rest
  done
  rest=$oldest
  [ -n "$rest" ]
}
# A failing `exec` would end the shell; `command` takes that from it.
open_file() {
  open_path=$1
  command exec 8<"$1" && look
} 2>/dev/null
# Opens what is to be read on descriptor 8 and sets how, offset and open_path.
choose() {
  real=$(readlink -f -- "$path" 2>/dev/null) && [ -n "$real" ] || real=$path
  folder=${real%/*}
  folder=${folder:-/}
  open_file "$real" || return 1
  # shellcheck disable=SC2086
  set -- $start
  if [ "$1" = end ]; then
    how=first offset=$((size - $2))
    [ "$offset" -ge 0 ] || offset=0
    return 0
  fi
  want_device=$2 want_inode=$3 want_offset=$4
  if [ "$device" = "$want_device" ] && [ "$inode" = "$want_inode" ]; then
    if [ "$size" -ge "$want_offset" ]; then
      how=same offset=$want_offset
      return 0
    fi
    how=cut offset=0
    find_copy || return 0
  else
    how=replaced offset=0
    find_rest || find_copy || return 0
  fi
  # The rest of what we were reading comes first, under its old offsets.
  open_file "$rest" || {
    open_file "$real"
    return
  }
  if [ "$size" -gt "$want_offset" ]; then
    how=rest offset=$want_offset
  elif find_next; then
    how=between
    open_file "$rest"
  else
    open_file "$real"
  fi
}
# Bytes as they come, from $offset; false when the file was replaced before tail had opened it.
start_tail() {
  bell=$(mktemp -d 2>/dev/null) && mkfifo "$bell/bell" 2>/dev/null || return 2
  exec 5<>"$bell/bell" 6>"$bell/bell" 5<&-
  rm -rf -- "$bell"
  LC_ALL=C tail -c "+$((offset + 1))" -f --pid="$$" -- "$open_path" 2>&6 6>&- 8<&- &
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
# Where there is no GNU tail: the shared offset of descriptor 8 is where cat stopped.
poll() {
  dd bs=1 skip="$offset" count=0 <&8 2>/dev/null
  tell "opened $how $device $inode $offset $size $modified"
  reached=$offset
  while look; do
    [ "$size" -ge "$reached" ] || work_ends
    if [ "$size" -gt "$reached" ]; then
      cat <&8
      while read -r name value; do
        [ "$name" != pos: ] || reached=$value
      done </proc/self/fdinfo/8
    fi
    check_name
    pause 1
    tick 1
  done
  work_ends
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
    if [ "$size" = "$last_size" ]; then
      tell "moved $size"
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
work() {
  begun=
  work_begins
  begin
  expand "$path"
  path=$expanded
  case $path in
    /*) ;;
    *) path=$HOME/$path ;;
  esac
  last_size='' gone=''
  while :; do
    # First, since a FIFO must not even be opened.
    wait_for_file
    ! choose || break
    pause 1
    tick 1
  done
  if [ -n "$gnu_tail" ]; then
    start_tail
    case $? in
      1)
        tell again
        work_ends
        ;;
      2) poll ;;
    esac
    tell "opened $how $device $inode $offset $size $modified"
    while :; do
      # The old file's last bytes are waited for in shorter rounds.
      if [ "$open_path" = "$real" ] && [ -z "$last_size" ]; then round=2; else round=1; fi
      pause "$round"
      tick "$round"
      stat_of "$child" && [ "$state" != Z ] || {
        child=
        work_ends
      }
      check_name
    done
  fi
  poll
  work_ends
}
serve
