# shellcheck shell=sh disable=SC2015,SC2154
# The answer of outputs.sh, looked for by one at a time: who asks meanwhile waits, and gets the answer of the one before. It
# is kept in the state folder; where that cannot be written, everybody looks for themselves.
folder=$root/v1/$host/.outputs/$key
# Its first line says when it was complete, and when the look began: what happened between is in it or not.
is_fresh() {
  first_line "$folder/answer" || return 1
  complete=${line% *} looked=${line#* }
  case $complete:$looked in *[!0-9:]* | :* | *:) return 1 ;; esac
  now
  [ "$((now - complete))" -ge 0 ] && [ "$((now - complete))" -le "${max_age}000" ] && [ "$looked" -ge "${since:-0}" ]
}
print_kept() {
  sed 1d "$folder/answer"
  finish
}
# A lock made by a link has its owner's identity in it from the start. Should two take a dead owner's away at the same
# moment, two look: no harm but the cost.
take_turn() {
  read -r me rest </proc/self/stat
  stat_of "$me"
  mine=$folder/.$me-$ticks waited=0
  printf '%s %s %s %s\n' "$me" "$ticks" "$boot" "$uid" >"$mine" || return 1
  until ln -- "$mine" "$folder/lock"; do
    ! first_line "$folder/lock" || alive "$line" || rm -f -- "$folder/lock"
    ! is_fresh || {
      rm -f -- "$mine"
      print_kept
    }
    waited=$((waited + 1))
    { [ "$waited" -le 5 ] && sleep 0.2; } || sleep 1
  done
}
(umask 077 && mkdir -p -- "$folder") 2>/dev/null || folder=
if [ -n "$folder" ]; then
  ! is_fresh || print_kept
  mine=
  take_turn 2>/dev/null || {
    [ -z "$mine" ] || rm -f -- "$mine"
    folder=
  }
fi
if [ -z "$folder" ]; then
  evaluate
  finish
fi
# Between the look and the lock somebody may have come to an end.
if ! is_fresh; then
  # Those of questions that nobody asks any more.
  find "$root/v1/$host/.outputs" -mindepth 1 -maxdepth 1 -mtime +2 -exec rm -rf {} +
  now
  looked=$now
  answer=$(evaluate)
  now
  (umask 077 && printf '%s %s\n%s\n' "$now" "$looked" "$answer" >"$folder/.answer") && mv -- "$folder/.answer" "$folder/answer"
fi 2>/dev/null
rm -f -- "$folder/lock" "$mine"
[ -z "${answer:-}" ] || {
  printf '%s\n' "$answer"
  finish
}
print_kept
