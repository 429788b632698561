# shellcheck shell=sh disable=SC2015,SC2016,SC2154
# What recorder.sh kept, in its own lines, packed where there is gzip. In: root host; since, host clock, seconds; limit, bytes
# before packing: of longer ones each second (third …) moment is left out, but never what says how logs and outputs have grown.
limit_plain=$((limit / 3))
set -- "$root/v1/$host/.recorder"/spool.*
pack="cat" most=$limit_plain
! command -v gzip >/dev/null 2>&1 || pack="gzip -1 -c" most=$limit
hold
[ ! -e "$1" ] || {
  # What is asked for as a whole and short enough goes as it is. Else names of runs, GPUs and fields go through always; what was
  # last known of a log before `since` is told with its time.
  if [ "$since" -eq 0 ] && [ "$(cat -- "$@" | wc -c)" -le "$most" ]; then
    cat -- "$@"
  else
    LC_ALL=C awk '
$1 == "v" { split("", last) }
$1 == "t" { time = $2; moment++; keep = time >= since; stamped = 0; if (keep && pass == 2) { for (id in last) print last[id]; split("", last) } next }
pass == 1 { if (keep && ($1 == "d" || $1 == "g" || $1 == "h")) bytes += length($0) + 1; next }
!every { every = int(bytes / most) + 1 }
$1 == "s" && !keep { last[$2] = "t " time "\n" $0; next }
$1 == "d" || $1 == "g" || $1 == "h" || $1 == "s" || $1 == "o" {
  if (!keep || (every > 1 && ($1 == "d" || $1 == "g" || $1 == "h") && moment % every)) next
  if (!stamped) { print "t " time; stamped = 1 }
  print
  next
}
$1 == "v" || $1 == "f" || $1 == "G" || $1 == "S" { print }' since="$since" most="$most" pass=1 "$@" pass=2 "$@"
  fi | $pack
} 2>/dev/null
finish
