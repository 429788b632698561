# shellcheck shell=sh disable=SC2034
# Copied into the run's folder: starts the job and writes how it ended. The leader of its own session, and the job of
# another, so that a signal to the job's group never reaches this one.
dir=$1 log=$2 boot=$3 uid=$4 detach=$5 shell=$6 mask=$7 path_prefix=$8
environment=$ML_ENVIRONMENT
unset ML_ENVIRONMENT
# Caught, not ignored: what is ignored here would be ignored by the job too. A shell answers a signal after the job.
trap : TERM HUP INT QUIT USR1 USR2
ticks_of() {
  stat_line=
  { while IFS= read -r part || [ -n "$part" ]; do stat_line="$stat_line$part "; done; } 2>/dev/null <"/proc/$1/stat"
  stat_line=${stat_line##*) }
  # shellcheck disable=SC2086
  set -- $stat_line
  ticks=${20}
}
put() {
  printf '%s\n' "$2" >"$dir/.$1" && mv -- "$dir/.$1" "$dir/$1"
}
note_self() {
  read -r self rest </proc/self/stat
  ticks_of "$self"
  put "$1" "$self $ticks $boot $uid" 2>/dev/null
}
note_self wrapper
# In the foreground, since what is started with & ignores INT.
(
  note_self process
  umask "$mask"
  eval "$environment"
  ML_SESSION_RUN=${dir##*/}
  [ -z "$path_prefix" ] || PATH=$path_prefix:$PATH
  export PATH ML_SESSION_RUN
  # shellcheck disable=SC2086
  exec $detach "$shell" "$dir/job.sh" "$dir" "$shell"
) >>"$log" 2>&1
code=$?
at=$(date +%s%3N 2>/dev/null)
case $at in *[!0-9]* | '') at=$(date +%s)000 ;; esac
[ "${#at}" -ge 13 ] || at=$(date +%s)000
# The shell's own sum: 128 and the number of the signal.
if [ "$code" -gt 128 ] && [ "$code" -le 192 ] && name=$(kill -l $((code - 128)) 2>/dev/null) && [ -n "$name" ]; then
  verdict="signal SIG${name#SIG} $at"
else
  verdict="code $code $at"
fi
# In place and without truncation: the blocks are there already.
printf '%-63s\n' "$verdict" 1<>"$dir/end"
member=${dir%/*}
stage=${member%/*}
session=${stage%/*}
printf '%s\n' "${stage##*/}/${member##*/}/${dir##*/}" 2>/dev/null >>"$session/changes"
