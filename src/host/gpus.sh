# shellcheck shell=sh disable=SC2015,SC2034,SC2154
# One nvidia-smi that stays open: a new one costs 20 ms of CPU, a sample of an open one about 1 ms. In: interval (ms),
# fields_1 to fields_3, from all that is wanted to what every driver knows: one unknown field fails the whole query.
beat() { printf '@ beat\n'; }
work() {
  work_begins
  begin
  command -v nvidia-smi >/dev/null 2>&1 || {
    printf '@ absent\n'
    work_ends
  }
  for fields in "$fields_1" "$fields_2" "$fields_3"; do
    printf '@ fields %s\n' "$fields"
    nvidia-smi --query-gpu="$fields" --format=csv,noheader,nounits -lms "$interval" 2>&1 &
    child=$!
    rounds=0
    while stat_of "$child" && [ "$state" != Z ]; do
      # What fails does so at once; later a look now and then is enough.
      if [ "$rounds" -lt 5 ]; then round=1; else round=5; fi
      rounds=$((rounds + 1))
      pause "$round"
      tick "$round"
    done
    wait "$child"
    code=$?
    child=
    printf '@ ended %s\n' "$code"
    [ "$code" -eq 2 ] || break
  done
  work_ends
}
serve
