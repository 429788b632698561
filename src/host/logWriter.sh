# shellcheck shell=sh disable=SC2154,SC3013
# Who of this user has files open for writing; one search for all of them. In: path_count, path_0 and so on; known_0 and so
# on, the processes that had them open last, or 0. Answers a line for each: "@ open PID", "@ closed" or "@ unknown".
#
# Sets $writer, if the process has the file open for writing.
look_at() {
  for entry in "$1"/fd/*; do
    ! [ "$entry" -ef "$path" ] || note_entry "$1" "$entry"
    [ -z "$writer" ] || return 0
  done
}
note_entry() {
  while read -r name flags; do
    # Octal; the last digit's low bits are the access mode: 1 writing, 2 both.
    case $name$flags in
      flags:*[1256]) writer=${1#/proc/} ;;
    esac
  done 2>/dev/null <"$1/fdinfo/${2##*/}"
}
# Numbers of the files that are still to be searched for.
wanted=
number=0
while [ "$number" -lt "$path_count" ]; do
  eval "path=\$path_$number known=\$known_$number"
  whole_path
  writer=
  if [ -f "$path" ]; then
    look_at "/proc/$known"
    [ -n "$writer" ] || wanted="$wanted $number"
    answer="open $writer"
  else
    answer=unknown
  fi
  eval "path_$number=\$path answer_$number=\$answer"
  number=$((number + 1))
done
for process in /proc/[0-9]*; do
  [ -n "$wanted" ] || break
  # Of others' processes nobody but root may know the files.
  [ -r "$process/fd" ] || continue
  left=
  for number in $wanted; do
    eval "path=\$path_$number"
    writer=
    look_at "$process"
    if [ -n "$writer" ]; then eval "answer_$number=\"open \$writer\""; else left="$left $number"; fi
  done
  wanted=$left
done
for number in $wanted; do eval "answer_$number=closed"; done
number=0
while [ "$number" -lt "$path_count" ]; do
  eval "answer=\$answer_$number"
  printf '@ %s\n' "$answer"
  number=$((number + 1))
done
finish
