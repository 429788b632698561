# shellcheck shell=sh disable=SC2034,SC2154
# One nvidia-smi that stays open: a new one costs 20 ms of CPU, a sample of an open one about 1 ms. In: interval (ms),
# path_prefix, fields_1 to fields_3, from all that is wanted to what every driver knows: one unknown field fails the whole query.
say() {
  hold
  printf '%s\n' "$1"
  release
}
# Without a reader nvidia-smi ends at its next sample.
relay() {
  job_begins
  while IFS= read -r line || [ -n "$line" ]; do
    say "$line"
    [ "$line" != '@ ended 2' ] || exit 2
  done
  exit 0
}
[ -z "$path_prefix" ] || PATH=$path_prefix:$PATH
command -v nvidia-smi >/dev/null || {
  hold
  printf '@ absent\n'
  finish
}
for fields in "$fields_1" "$fields_2" "$fields_3"; do
  say "@ fields $fields"
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
