# shellcheck shell=sh disable=SC2154,SC2034
# Sizes of what patterns match. In: cwd, pattern_count, pattern_0 and so on. Answers "@ match FILES BYTES" for each, in
# their order, or "@ none".
expand "${cwd:-$HOME}"
cwd=$expanded
# Links are followed: a model snapshot is a folder of links. mawk's integers are short, so the sum is printed as a float.
sizes_of() {
  printf '%s\0' "$@" | xargs -0 sh -c 'find -L "$@" -type f -exec stat -L -c %s {} + 2>/dev/null' sh |
    awk '{ sum += $1; count++ } END { printf "@ match %d %.0f\n", count, sum }'
}
number=0
while [ "$number" -lt "$pattern_count" ]; do
  eval "pattern=\$pattern_$number"
  number=$((number + 1))
  expand "$pattern"
  case $expanded in
    /*) pattern=$expanded ;;
    *) pattern=${cwd%/}/$expanded ;;
  esac
  if [ -e "$pattern" ]; then
    set -- "$pattern"
  else
    # Names with blanks stay whole, stars are matched.
    IFS=
    # shellcheck disable=SC2086
    set -- $pattern
    unset IFS
  fi
  if [ -e "$1" ]; then sizes_of "$@"; else printf '@ none\n'; fi
done
finish
