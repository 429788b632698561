# shellcheck shell=sh disable=SC2015,SC2034,SC2154,SC2209,SC3013
# Which bytes of which file come next for somebody who follows a path: what follow.sh and logPart.sh share. In: path,
# start ("end BYTES" or "position DEVICE INODE OFFSET"), check, the cksum of the 64 bytes before OFFSET, or nothing,
# read_at, when that place was reached, in seconds of this host's clock, or nothing, and seen_modified, the latest time of
# modification that we told of what was read, in ms, or nothing.
whole_path() {
  expand "$path"
  case $expanded in
    /*) path=$expanded ;;
    *) path=$HOME/$expanded ;;
  esac
}
# What is at the path, in words of the product; a FIFO must not even be opened.
state_of_path() {
  if [ -d "$path" ]; then
    log_state="unreadable It is a folder."
  elif [ -e "$path" ] && [ ! -f "$path" ]; then
    log_state="unreadable It is not a regular file."
  elif [ -f "$path" ] && [ ! -r "$path" ]; then
    log_state="unreadable Reading it is not permitted."
  elif [ -f "$path" ]; then
    log_state=file
  elif [ -e "${path%/*}" ] && [ ! -x "${path%/*}" ]; then
    log_state="unreadable Its folder may not be looked into."
  else
    log_state=missing
  fi
  [ "$log_state" = file ]
}
# Device, inode, size and modification time (seconds and ms) of what descriptor 8 has.
look() {
  # shellcheck disable=SC2046
  set -- $(stat -L -c '%d %i %s %Y %y' /proc/self/fd/8 2>/dev/null <&8)
  device=$1 inode=$2 size=$3 modified=$4
  [ -n "$modified" ] || return 1
  thousandths "$6"
  modified_ms=$modified$thousandth
}
# Of a time of day as stat prints it, with a fraction or without.
thousandths() {
  thousandth=${1#*.}
  thousandth=${thousandth%"${thousandth#???}"}
  case $thousandth in [0-9][0-9][0-9]) ;; *) thousandth=000 ;; esac
}
# When a file was written to last, ms; 0 where that cannot be told.
written_of() {
  # shellcheck disable=SC2046
  set -- $(stat -L -c '%Y %y' -- "$1" 2>/dev/null)
  thousandths "$3"
  written=${1:-0}$thousandth
}
# Whether the 64 bytes before the offset in standard input are those we gave.
has_ours() {
  window=64
  [ "$want_offset" -ge 64 ] || window=$want_offset
  [ "$(dd bs=1 skip=$((want_offset - window)) count="$window" 2>/dev/null | cksum)" = "$check" ]
}
# The file that has the wanted inode in the folder of the path and may hold what we gave: numbers are used again.
find_rest() {
  rest=$(cd -- "$folder" && find . -maxdepth 1 -type f -inum "$want_inode" 2>/dev/null | head -n 1)
  rest=${rest:+$folder/${rest#./}}
  [ -n "$rest" ] && [ -r "$rest" ] && [ "$(stat -c %d -- "$rest" 2>/dev/null)" = "$want_device" ] && holds_ours "$rest"
}
holds_ours() {
  rest_size=$(stat -L -c %s -- "$1" 2>/dev/null)
  [ "${rest_size:-0}" -ge "$want_offset" ] && { [ -z "$check" ] || has_ours <"$1"; }
}
# Where all lines are alike an older file has the same bytes at that place. A copy is written after all that we saw written to
# what was copied, or has its time (cp -p; busybox's keeps no fraction of it). Where what is at the path now seems older than
# that too, the clock was set back and tells nothing.
may_be_copy() {
  [ -n "$seen_modified" ] && [ "$now_modified" -ge "$seen_modified" ] || return 0
  written_of "$1"
  [ "$thousandth" != 000 ] || written=$((written + 999))
  [ "$written" -ge "$seen_modified" ]
}
# The largest file whose bytes before the offset are those we gave: an older copy is the beginning of a newer one.
find_copy() {
  rest='' largest=-1
  [ -n "$check" ] || return 1
  for copy in "$real".* "$real"-* "${real%.*}"[.-]*; do
    try_copy
  done
  set -- "$folder"/*
  [ "$#" -gt 200 ] || [ -n "$rest" ] || for copy; do
    try_copy
  done
  [ -n "$rest" ]
}
try_copy() {
  [ -f "$copy" ] && [ -r "$copy" ] && ! [ "$copy" -ef "$real" ] && holds_ours "$copy" && may_be_copy "$copy" || return 1
  [ "$rest_size" -gt "$largest" ] || return 1
  rest=$copy largest=$rest_size
}
# The number of a file that is called LOG.1, LOG.2 and so on.
number_of() {
  number=${1#"$real".}
  case $number in '' | *[!0-9]* | ?????*) return 1 ;; esac
}
# Whether a rotated file can be read. What a compressed one held counts as lost.
usable() {
  case $1 in
    *.gz | *.xz | *.zst | *.bz2)
      [ ! -f "$1" ] || note_lost "$1"
      return 1
      ;;
  esac
  [ -f "$1" ] && [ -r "$1" ] && ! [ "$1" -ef "$real" ]
}
note_lost() {
  set -- "$(gzip -l -- "$1" 2>/dev/null | { read -r title && read -r packed unpacked rest_of_line && echo "$unpacked"; })"
  case $1 in '' | *[!0-9]*) lost_more=1 ;; *) lost=$((lost + $1)) ;; esac
}
# The file that was rotated next after $rest, which was read to its end. Numbers count down, as those of logrotate, or up, as
# those of log4j; which of them shows in when the neighbours were written to. Dates count up.
find_next() {
  after=$rest rest=''
  if number_of "$after"; then
    written_of "$after"
    after_written=$written down=$number up=$number
    while [ "$down" -gt 1 ]; do
      down=$((down - 1))
      ! next_is "$down" -ge || return 0
      [ -z "$is_older" ] || break
    done
    while :; do
      up=$((up + 1))
      ! next_is "$up" -gt || return 0
      [ -n "$is_there" ] || return 1
    done
  fi
  past=''
  for one in "$real"[.-][0-9]*; do
    if [ "$one" = "$after" ]; then
      past=1
    elif [ -n "$past" ] && ! number_of "$one" && ! [ "$one" -ot "$after" ] && usable "$one"; then
      rest=$one
      return 0
    fi
  done
  [ -n "$past" ] || find_oldest "$(stat -L -c %Y -- "$after" 2>/dev/null)"
}
# Whether the file of that number was written to at ("-ge") or after ("-gt") $after_written, and can be read. Sets is_there, and
# is_older where it was written to before.
next_is() {
  is_there='' is_older=''
  for one in "$real.$1" "$real.$1".*; do
    [ -f "$one" ] || continue
    is_there=1
    written_of "$one"
    if ! test "$written" "$2" "$after_written"; then
      is_older=1
    elif usable "$one"; then
      rest=$one
      return 0
    fi
  done
  return 1
}
# Of the rotated files that were written to after that time, the oldest; of equally old ones the one with the highest number.
find_oldest() {
  rest='' oldest=''
  [ -n "$1" ] || return 1
  for one in "$real"[.-][0-9]*; do
    [ "$(stat -L -c %Y -- "$one" 2>/dev/null || echo 0)" -gt "$1" ] && usable "$one" || continue
    if number_of "$one"; then
      written_of "$one"
      [ -z "$oldest" ] || [ "$written" -lt "$oldest" ] || { [ "$written" = "$oldest" ] && [ "$number" -gt "$highest" ]; } || continue
      oldest=$written highest=$number rest=$one
    elif [ -z "$rest" ]; then
      rest=$one
    fi
  done
  [ -n "$rest" ]
}
# Whether a file that was last written to at that time may still be written to by whoever had it open when it was rotated.
fresh() { [ $(($(date +%s) - $1)) -lt 5 ]; }
# A failing `exec` would end the shell; `command` takes that from it.
open_file() {
  open_path=$1
  command exec 8<"$1" && look
} 2>/dev/null
# Whoever does not append goes on where it was when its log is cut: before that place is nothing, and it may be large.
skip_hole() {
  [ "$size" -gt 0 ] && [ "$(($(stat -L -c %b /proc/self/fd/8 <&8) * 512))" -lt "$size" ] || return 0
  hole=$(LC_ALL=C cmp /proc/self/fd/8 /dev/zero 2>/dev/null <&8)
  hole=${hole%,*}
  hole=${hole##* }
  case $hole in '' | *[!0-9]*) ;; *) offset=$((hole - 1)) ;; esac
}
# Opens what is to be read on descriptor 8 and sets how, offset and open_path; rest_read, when it was last written to, if the
# file before was found and has no more; lost, the bytes of compressed files that come before, and lost_more when others may be gone.
choose() {
  real=$(readlink -f -- "$path" 2>/dev/null) && [ -n "$real" ] || real=$path
  folder=${real%/*}
  folder=${folder:-/} rest_read='' lost=0 lost_more=''
  open_file "$real" || return 1
  now_modified=$modified_ms
  # shellcheck disable=SC2086
  set -- $start
  if [ "$1" = end ]; then
    how=first offset=$((size - $2))
    [ "$offset" -ge 0 ] || offset=0
    return 0
  fi
  want_device=$2 want_inode=$3 want_offset=$4
  if [ "$device" = "$want_device" ] && [ "$inode" = "$want_inode" ]; then
    # A file that was cut may have grown beyond the offset since.
    if [ "$size" -ge "$want_offset" ] && { [ -z "$check" ] || has_ours <"/proc/self/fd/8"; }; then
      how=same offset=$want_offset
      [ "$offset" -gt 0 ] || skip_hole
      return 0
    fi
    how=cut offset=0
    names=$(names_now)
    find_copy
  else
    how=replaced offset=0
    names=$(names_now)
    find_rest || find_copy
  fi && {
    # The rest of what we were reading comes first, under its old offsets.
    open_file "$rest" || {
      open_file "$real"
      return
    }
    if [ "$size" -gt "$want_offset" ]; then
      how=rest offset=$want_offset
      [ "$names" = "$(names_now)" ]
      return
    fi
    rest_read=$modified
    find_next
    true
  } || {
    lost_more=1
    find_oldest "$read_at"
    # What was read of a file is no loss, though it was compressed since.
    [ "$lost" -lt "$want_offset" ] || lost=$((lost - want_offset))
  }
  if [ -n "$rest" ] && open_file "$rest"; then
    how=between
  else
    open_file "$real" || return 1
    [ "$how" != cut ] || skip_hole
  fi
  [ "$names" = "$(names_now)" ]
}
# Which file has which name now. If that changed meanwhile, what was opened may not be what was found.
names_now() { ls -di -- "$real" "$real"[.-]* 2>/dev/null; }
