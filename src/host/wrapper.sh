# shellcheck shell=sh disable=SC2034
# Copied into the run's folder: starts the job and writes how it ended. The leader of its own session, and the job of
# another, so that a signal to the job's group never reaches this one. Its names begin with ml_session_, since the
# environment it passes on may hold any others.
{ set +xv; } 2>/dev/null
ml_session_dir=$1 ml_session_log=$2 ml_session_boot=$3 ml_session_uid=$4 ml_session_detach=$5 ml_session_shell=$6 ml_session_mask=$7
ml_session_environment=$ML_ENVIRONMENT
unset ML_ENVIRONMENT
# Caught, not ignored: what is ignored here would be ignored by the job too. A shell answers a signal after the job.
trap : TERM HUP INT QUIT USR1 USR2
ml_session_ticks_of() {
  ml_session_line=
  {
    while IFS= read -r ml_session_part || [ -n "$ml_session_part" ]; do ml_session_line="$ml_session_line$ml_session_part "; done
  } 2>/dev/null <"/proc/$1/stat"
  ml_session_line=${ml_session_line##*) }
  # shellcheck disable=SC2086
  set -- $ml_session_line
  ml_session_ticks=${20}
}
ml_session_put() {
  printf '%s\n' "$2" >"$ml_session_dir/.$1" && mv -- "$ml_session_dir/.$1" "$ml_session_dir/$1"
}
ml_session_note_self() {
  read -r ml_session_self ml_session_rest </proc/self/stat
  ml_session_ticks_of "$ml_session_self"
  ml_session_put "$1" "$ml_session_self $ml_session_ticks $ml_session_boot $ml_session_uid" 2>/dev/null
}
# How many processes the kernel has ended for lack of memory, into ml_session_oom: those of our control group (of cgroup v2,
# else of v1), then those of the whole machine; "-" for what cannot be read.
ml_session_count() {
  ml_session_oom=$(sed -n 's/^oom_kill //p' "$1" 2>/dev/null)
  case $ml_session_oom in '' | *[!0-9]*) ml_session_oom=- ;; esac
  [ "$ml_session_oom" != - ]
}
ml_session_find_group() {
  while IFS=: read -r ml_session_part ml_session_rest ml_session_line; do
    case ,$ml_session_rest, in
      ,,) set -- "/sys/fs/cgroup${ml_session_line%/}/memory.events" /sys/fs/cgroup/memory.events "$@" ;;
      *,memory,*) set -- "$@" "/sys/fs/cgroup/memory${ml_session_line%/}/memory.oom_control" /sys/fs/cgroup/memory/memory.oom_control ;;
    esac
  done 2>/dev/null </proc/self/cgroup
  for ml_session_group; do ! ml_session_count "$ml_session_group" || return 0; done
  ml_session_group=
}
ml_session_count_all() {
  ml_session_oom=-
  [ -z "$ml_session_group" ] || ml_session_count "$ml_session_group"
  ml_session_all=$ml_session_oom
  ml_session_count /proc/vmstat
  ml_session_all="$ml_session_all $ml_session_oom"
}
# $1 and $2 counted before, $3 and $4 after: how many more.
ml_session_grown() {
  ml_session_more=
  for ml_session_part in "$1:$3" "$2:$4"; do
    case $ml_session_part in
      *-*) ml_session_more="$ml_session_more -" ;;
      *) ml_session_more="$ml_session_more $((${ml_session_part#*:} - ${ml_session_part%:*}))" ;;
    esac
  done
}
ml_session_note_self wrapper
ml_session_find_group
ml_session_count_all
ml_session_before=$ml_session_all
# In the foreground, since what is started with & ignores INT.
(
  ml_session_note_self process
  umask "$ml_session_mask"
  # All that is needed stands in arguments, before values come that may change how this shell splits or finds words.
  # shellcheck disable=SC2086
  set -- "${ml_session_dir##*/}" $ml_session_detach "$ml_session_shell" "$ml_session_dir/job.sh" "$ml_session_dir" "$ml_session_shell"
  eval "$ml_session_environment" 2>/dev/null
  ML_SESSION_RUN=$1
  export ML_SESSION_RUN
  shift
  exec "$@"
) >>"$ml_session_log" 2>&1
ml_session_code=$?
ml_session_at=$(date +%s%3N 2>/dev/null)
case $ml_session_at in *[!0-9]* | '') ml_session_at=$(date +%s)000 ;; esac
[ "${#ml_session_at}" -ge 13 ] || ml_session_at=$(date +%s)000
# How far the log has to be read for the job's last words.
ml_session_size=$(stat -L -c %s -- "$ml_session_log" 2>/dev/null)
ml_session_at="$ml_session_at ${ml_session_size:--}"
# The shell's own sum: 128 and the number of the signal.
if [ "$ml_session_code" -gt 128 ] && [ "$ml_session_code" -le 192 ] &&
  ml_session_name=$(kill -l $((ml_session_code - 128)) 2>/dev/null) && [ -n "$ml_session_name" ]; then
  ml_session_count_all
  # shellcheck disable=SC2086
  ml_session_grown $ml_session_before $ml_session_all
  ml_session_verdict="signal SIG${ml_session_name#SIG} $ml_session_at$ml_session_more"
else
  ml_session_verdict="code $ml_session_code $ml_session_at"
fi
# In place and without truncation: the blocks are there already.
printf '%-63s\n' "$ml_session_verdict" 1<>"$ml_session_dir/end"
ml_session_member=${ml_session_dir%/*}
ml_session_stage=${ml_session_member%/*}
ml_session_session=${ml_session_stage%/*}
printf '%s\n' "${ml_session_stage##*/}/${ml_session_member##*/}/${ml_session_dir##*/}" 2>/dev/null >>"$ml_session_session/changes"
