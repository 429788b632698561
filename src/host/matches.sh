# shellcheck shell=sh disable=SC2034,SC2086,SC2154
# What paths and globs of the session file match. In: cwd, expanded.
exists() { [ -e "$1" ] || [ -L "$1" ]; }
# Calls $2 with all that pattern $1 matches; false, and nothing is called, where nothing matches.
with_matches() {
  expand "$1"
  case $expanded in
    /*) pattern=$expanded ;;
    *) pattern=${cwd%/}/$expanded ;;
  esac
  while [ "$pattern" != "${pattern%/}" ]; do pattern=${pattern%/}; done
  [ -n "$pattern" ] || pattern=/
  call=$2
  # Names with blanks stay whole, stars are matched. A file whose very name this is counts, unless there are others: one that
  # is called `*` must not stand for all.
  IFS=
  set -- $pattern
  unset IFS
  [ "$#" -gt 1 ] || ! exists "$pattern" || set -- "$pattern"
  exists "$1" || return 1
  "$call" "$@"
}
# Calls $1 for each of the patterns.
for_each_pattern() {
  number=0
  while [ "$number" -lt "$pattern_count" ]; do
    eval "with_matches \"\$pattern_$number\" $1"
    number=$((number + 1))
  done
}
