# shellcheck shell=sh disable=SC2154,SC3013
# Who of this user has a file open for writing. In: path. Answers "@ open PID", "@ closed" or "@ unknown".
expand "$path"
path=$expanded
if [ ! -f "$path" ]; then
  printf '@ unknown\n'
  finish
fi
for entry in /proc/[0-9]*/fd/*; do
  [ "$entry" -ef "$path" ] || continue
  process=${entry%/fd/*}
  while read -r name flags; do
    # Octal; the last digit's low bits are the access mode: 1 writing, 2 both.
    case $name$flags in
      flags:*[1256])
        printf '@ open %s\n' "${process#/proc/}"
        finish
        ;;
    esac
  done 2>/dev/null <"$process/fdinfo/${entry##*/}"
done
printf '@ closed\n'
finish
