# shellcheck shell=sh disable=SC2034,SC2154
# One nvidia-smi that stays open: a new one costs 20 ms of CPU, a sample of an open one about 1 ms. In: interval (ms),
# path_prefix, fields_1 to fields_3, from all that is wanted to what every driver knows: one unknown field fails the whole query.
# All lists begin with index, uuid and name. A GPU's line goes out whole when these are new, then as "=INDEX" and, if they
# changed, the other values; the lines of a round go in one piece.
#
# Without a reader nvidia-smi ends at its next sample.
relay() {
  job_begins
  round='' seen=0 most=0 first=''
  while IFS= read -r line || [ -n "$line" ]; do
    index=${line%%,*}
    case $index in
      '' | *[!0-9]* | ????*)
        flush
        tell "$line"
        [ "$line" != '@ ended 2' ] || exit 2
        ;;
      *)
        # The first GPU again: how many there are is known from now on, and the next round goes when all are here.
        [ "$index" != "$first" ] || {
          flush
          most=$seen seen=0
        }
        [ "$seen" -gt 0 ] || first=$index
        add_sample
        [ "$seen" -lt "$most" ] || flush
        ;;
    esac
  done
  exit 0
}
add_sample() {
  values=${line#*,}
  values=${values#*,}
  values=${values#*,}
  head=${line%",$values"}
  eval "old_head=\$head_$index old_values=\$values_$index"
  if [ "$head" != "$old_head" ]; then
    part=$line
  elif [ "$values" != "$old_values" ]; then
    part="=$index$values"
  else
    part="=$index"
  fi
  eval "head_$index=\$head values_$index=\$values"
  round=${round:+$round
}$part
  seen=$((seen + 1))
}
flush() {
  [ -z "$round" ] || tell "$round"
  round=
}
[ -z "$path_prefix" ] || PATH=$path_prefix:$PATH
command -v nvidia-smi >/dev/null || {
  hold
  printf '@ absent\n'
  finish
}
for fields in "$fields_1" "$fields_2" "$fields_3"; do
  tell "@ fields $fields"
  {
    nvidia-smi --query-gpu="$fields" --format=csv,noheader,nounits -lms "$interval" 2>&1
    printf '@ ended %s\n' "$?"
  } </dev/null | relay &
  child=$!
  wait "$child"
  code=$?
  child=
  [ "$code" -eq 2 ] || break
done
hold
finish
