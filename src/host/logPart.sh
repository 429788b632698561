# shellcheck shell=sh disable=SC2154
# The next bytes of a followed file, where no channel follows it. In: what logFile.sh needs; limit, the most bytes; settled,
# 1 when the last look found nothing new: whoever had a file open that was rotated may still write to it.
whole_path
say() {
  hold
  printf '@ %s\n' "$1"
}
state_of_path || {
  say "$log_state"
  finish
}
choose || {
  say again
  finish
}
if [ -n "$rest_read" ] && [ -z "$settled" ] && [ "$how" != between ] && fresh "$rest_read"; then
  say wait
  finish
fi
say "opened $how $device $inode $offset $size $modified_ms $lost ${lost_more:-0}"
# Moves the shared offset without reading what is before it.
dd bs=1 skip="$offset" count=0 <&8
head -c "$limit" <&8
finish
