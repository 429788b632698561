# shellcheck shell=sh disable=SC2154,SC3013
# Who of this user has a file open for writing. In: path; known, the process that had it open last, or 0. Answers
# "@ open PID", "@ closed" or "@ unknown".
expand "$path"
path=$expanded
if [ ! -f "$path" ]; then
  printf '@ unknown\n'
  finish
fi
look_at() {
  for entry in "$1"/fd/*; do
    [ "$entry" -ef "$path" ] || continue
    while read -r name flags; do
      # Octal; the last digit's low bits are the access mode: 1 writing, 2 both.
      case $name$flags in
        flags:*[1256])
          printf '@ open %s\n' "${1#/proc/}"
          finish
          ;;
      esac
    done 2>/dev/null <"$1/fdinfo/${entry##*/}"
  done
}
look_at "/proc/$known"
for process in /proc/[0-9]*; do
  # Of others' processes nobody but root may know the files.
  [ ! -r "$process/fd" ] || look_at "$process"
done
printf '@ closed\n'
finish
