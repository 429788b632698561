# shellcheck shell=sh disable=SC2154
# Writes that a run is not to be started again by itself. In: root host session run by.
umask 077
for dir in "$root/v1/$host/$session"/*/*/"$run"/; do
  dir=${dir%/}
  [ -d "$dir" ] || continue
  first_line "$dir/version"
  if [ "$line" != 1 ]; then
    printf '@ refused A newer version of ML Session Monitor wrote the record of this run; stop it from there.\n'
  elif { printf '%s\n' "$by" >"$dir/retry-stopped"; } 2>/dev/null; then
    printf '%s\n' "${dir#"$root/v1/$host/$session/"}" 2>/dev/null >>"$root/v1/$host/$session/changes"
    printf '@ done\n'
  else
    printf '@ refused The record %s cannot be written (is the disk full?).\n' "$dir"
  fi
  finish
done
printf '@ refused There is no record of this run on the host.\n'
finish
