# shellcheck shell=sh disable=SC2034,SC2154
# What is at many paths now, for the price of one stat. In: path_count, path_0 and so on. Says a line for each, "@ file",
# "@ missing" or "@ unreadable WORDS", after them "DEVICE INODE SIZE" for each file, and then "@ over". It looks again for
# each line that comes by the pipe it was started with: a process and a script for each look would cost far more. A look
# that finds what the one before found is told as "@ same".
look_at_all() {
  number=0 seen=
  set --
  while [ "$number" -lt "$path_count" ]; do
    eval "path=\$path_$number"
    number=$((number + 1))
    whole_path
    ! state_of_path || set -- "$@" "$path"
    seen="$seen@ $log_state
"
  done
  [ "$#" -eq 0 ] || seen="$seen$(stat -L -c '%d %i %s' -- "$@" 2>/dev/null)
"
}
exec 7<>/proc/self/fd/0 </dev/null
before=
while :; do
  look_at_all
  if [ "$seen" = "$before" ]; then tell '@ same'; else tell "$seen@ over"; fi
  before=$seen
  read -r nothing <&7
done
