# shellcheck shell=sh disable=SC2015,SC2034,SC2154,SC2209,SC3013
# Which bytes of which file come next for somebody who follows a path: what follow.sh and logPart.sh share. In: path,
# start ("end BYTES" or "position DEVICE INODE OFFSET"), and check, the cksum of the 64 bytes before OFFSET, or nothing.
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
# Device, inode, size and modification time of what descriptor 8 has.
look() {
  # shellcheck disable=SC2046
  set -- $(stat -L -c '%d %i %s %Y' /proc/self/fd/8 2>/dev/null <&8)
  device=$1 inode=$2 size=$3 modified=$4
  [ -n "$modified" ]
}
# Whether the 64 bytes before the offset in standard input are those we gave.
has_ours() {
  window=64
  [ "$want_offset" -ge 64 ] || window=$want_offset
  [ "$(dd bs=1 skip=$((want_offset - window)) count="$window" 2>/dev/null | cksum)" = "$check" ]
}
# The file that has the wanted inode in the folder of the path, or whose bytes before the offset are those we gave.
find_rest() {
  rest=$(cd -- "$folder" && find . -maxdepth 1 -type f -inum "$want_inode" 2>/dev/null | head -n 1)
  rest=${rest:+$folder/${rest#./}}
  [ -n "$rest" ] && [ -f "$rest" ] && [ "$(stat -c %d -- "$rest" 2>/dev/null)" = "$want_device" ]
}
find_copy() {
  [ -n "$check" ] || return 1
  for rest in "$real".* "$real"-* "$folder"/*; do
    [ -f "$rest" ] && [ -r "$rest" ] && ! [ "$rest" -ef "$real" ] || continue
    rest_size=$(stat -L -c %s -- "$rest" 2>/dev/null)
    [ "${rest_size:-0}" -ge "$want_offset" ] || continue
    has_ours <"$rest" && return 0
  done
  rest=
  return 1
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
# Opens what is to be read on descriptor 8 and sets how, offset and open_path; rest_read when the file before was found
# and has no more.
choose() {
  real=$(readlink -f -- "$path" 2>/dev/null) && [ -n "$real" ] || real=$path
  folder=${real%/*}
  folder=${folder:-/} rest_read=
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
    # A file that was cut may have grown beyond the offset since.
    if [ "$size" -ge "$want_offset" ] && { [ -z "$check" ] || has_ours <"/proc/self/fd/8"; }; then
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
  elif rest_read=1 && find_next; then
    how=between
    open_file "$rest"
  else
    open_file "$real"
  fi
}
