# shellcheck shell=sh disable=SC2154
# What is at many paths now, for the price of one stat. In: path_count, path_0 and so on. Answers a line for each, "@ file",
# "@ missing" or "@ unreadable WORDS", and after them "DEVICE INODE SIZE" for each file.
number=0
set --
while [ "$number" -lt "$path_count" ]; do
  eval "path=\$path_$number"
  number=$((number + 1))
  whole_path
  ! state_of_path || set -- "$@" "$path"
  printf '@ %s\n' "$log_state"
done
[ "$#" -eq 0 ] || stat -L -c '%d %i %s' -- "$@"
finish
