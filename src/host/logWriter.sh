# shellcheck shell=sh disable=SC2154,SC3013
# Who of this user has files open for writing; one search for all of them. In: path_count, path_0 and so on; known_0 and so
# on, the processes that had them open last, or 0. Answers a line for each: "@ open PID", "@ closed" or "@ unknown".
#
# Answers for those of $wanted that the process has open for writing, and takes them out. Of what it has open only regular files
# are compared: most are none.
look_at() {
  for entry in "$1"/fd/*; do
    [ -f "$entry" ] || continue
    for one in $wanted; do
      eval "path=\$path_$one"
      ! [ "$entry" -ef "$path" ] || note_entry "$1" "$entry"
    done
  done
}
note_entry() {
  while read -r name flags; do
    # Octal; the last digit's low bits are the access mode: 1 writing, 2 both.
    case $name$flags in
      flags:*[1256])
        eval "answer_$one=\"open \${1#/proc/}\""
        wanted=" $wanted "
        wanted="${wanted%%" $one "*} ${wanted#*" $one "}"
        ;;
    esac
  done 2>/dev/null <"$1/fdinfo/${2##*/}"
}
# Numbers of the files that are still to be searched for.
left=
number=0
while [ "$number" -lt "$path_count" ]; do
  eval "path=\$path_$number known=\$known_$number"
  whole_path
  answer=unknown wanted=
  [ ! -f "$path" ] || answer=closed wanted=$number
  eval "path_$number=\$path answer_$number=\$answer"
  look_at "/proc/$known"
  left="$left $wanted"
  number=$((number + 1))
done
wanted=$left
for process in /proc/[0-9]*; do
  case $wanted in *[0-9]*) ;; *) break ;; esac
  # Of others' processes nobody but root may know the files.
  [ ! -r "$process/fd" ] || look_at "$process"
done
number=0
while [ "$number" -lt "$path_count" ]; do
  eval "answer=\$answer_$number"
  printf '@ %s\n' "$answer"
  number=$((number + 1))
done
finish
