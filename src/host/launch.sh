# shellcheck shell=sh disable=SC2015,SC2034,SC2154,SC2209
# Starts one run. In: root host boot uid session stage member run request fields (command cwd log shell from path_prefix
# setup_count setup_N environment given_names secret_names env_file program salt machine hostname after newest), the texts
# of wrapper.sh, job.sh and recorder.sh, recorder_seconds, recorder_bytes, and fields_1 to fields_3 as for gpus.sh; counts_text
# and counts, what outputs.sh needs to count what the run writes: its text and its variables.
old_umask=$(umask)
umask 077
unset CDPATH
lock=
refuse() {
  unlock
  [ -z "$new_dir" ] || rm -rf -- "$new_dir"
  hold
  printf '@ refused %s\n' "$1"
  finish
}
put() { printf '%s\n' "$2" >"$new_dir/$1"; }

# A lock made by a link is there with its owner written in it, or not there. A dead owner's lock may be removed only by
# whoever makes the one link that carries that owner's name, so nobody removes a lock that was renewed meanwhile.
unlock() {
  [ -z "$lock" ] || rm -f -- "$lock" "$mine"
  lock=
}
try_lock() {
  ln -- "$mine" "$member_dir/launch.lock" 2>/dev/null && lock=$member_dir/launch.lock && return 0
  first_line "$member_dir/launch.lock" || return 1
  owner=$line
  ! alive "$owner" || return 1
  # An owner that started under another boot or number is dead as well.
  over=$member_dir/$(printf %s "$owner" | tr -c 'A-Za-z0-9-' _).over.lock
  if ln -- "$mine" "$over" 2>/dev/null; then
    ! first_line "$member_dir/launch.lock" || [ "$line" != "$owner" ] || rm -f -- "$member_dir/launch.lock"
    rm -f -- "$over"
  fi
  return 1
}
take_lock() {
  mine=$member_dir/.$run.lock
  stat_of "$me"
  printf '%s %s %s %s\n' "$me" "$ticks" "$boot" "$uid" 2>/dev/null >"$mine" || refuse "The state folder $root cannot be written (is the disk full?)."
  attempts=0
  until try_lock; do
    attempts=$((attempts + 1))
    [ "$attempts" -lt 100 ] || {
      rm -f -- "$mine"
      refuse "Another launch of this stage holds $member_dir/launch.lock."
    }
    sleep 0.1 2>/dev/null || sleep 1
  done
}
answer() {
  relative=$stage/$member/$2
  hold
  printf '@ %s %s\n' "$1" "$relative"
  print_live "$relative"
  print_fields "$host" "$relative"
  printf '@ done\n'
  finish
}

check_places() {
  expand "${cwd:-$HOME}"
  cwd=$expanded
  [ -d "$cwd" ] || refuse "The working folder $cwd does not exist."
  cd -- "$cwd" 2>/dev/null || refuse "The working folder $cwd cannot be entered."
  here=$(pwd)
  expand "$log"
  case $expanded in
    '') log=$dir/output.log && return ;;
    /*) log=$expanded ;;
    *) log=${here%/}/$expanded ;;
  esac
  folder=${log%/*}
  [ -d "${folder:-/}" ] || refuse "The log's folder ${folder:-/} does not exist."
  [ ! -e "$log" ] || [ -f "$log" ] || refuse "The log $log is not a regular file."
  (umask "$old_umask" && : >>"$log") 2>/dev/null || refuse "The log $log cannot be written."
}
# A retry of run $after is due only as long as nobody gave it up and nothing was started since.
retry_is_due() {
  first_line "$member_dir/$after/started" && [ ! -e "$member_dir/$after/retry-stopped" ] || return 1
  failed_run_started=$line
  for old_run in "$member_dir"/*/; do
    ! first_line "${old_run}started" || [ "$line" -le "$failed_run_started" ] || return 1
  done
}
# What the env_file gives goes before what comes with the launch. Values are in variables alone.
check_environment() {
  [ -z "$env_file" ] || read_env_file "$env_file" || refuse "$file_problem"
  for name in $secret_names; do
    case " $given_names $file_names " in
      *" $name "*) ;;
      *) refuse "The secret $name has no value for this host. Give it one with \"ML Session: Set Secret…\", or in the host's env_file${env_file:+ ($env_file)}." ;;
    esac
  done
  environment=$file_exports$line_feed$environment
  # One string of an environment can be 128 KiB long.
  [ "$(printf %s "$environment" | wc -c)" -lt 120000 ] || refuse "The environment is too large: all names and values together may have 120 kB."
}
# One salt for all runs of the stage on this host, so that they can be compared. The first launch makes it.
find_salt() {
  if ! first_line "$session_dir/$stage/salt"; then
    printf '%s\n' "$salt" 2>/dev/null >"$member_dir/.$run.salt" && ln -- "$member_dir/.$run.salt" "$session_dir/$stage/salt" 2>/dev/null
    rm -f -- "$member_dir/.$run.salt"
    first_line "$session_dir/$stage/salt" || return
  fi
  salt=$line
}
# The commit of the working folder. Looks only: no lock, no index written, no program that the repository names, 2 s.
note_git() {
  command -v timeout >/dev/null 2>&1 || return
  GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0
  export GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT
  PATH=${path_prefix:+$path_prefix:}$PATH
  commit=$(timeout 2 git -C "$here" rev-parse --verify HEAD) && [ -n "$commit" ] || return
  changed=unknown
  # Files that git does not know are what jobs write; only changed code makes a difference.
  if said=$(timeout 2 git -c core.fsmonitor=false -C "$here" status --porcelain --untracked-files=no --ignore-submodules=dirty); then
    changed=clean
    [ -z "$said" ] || changed=dirty
  fi
  printf '%s %s\n' "$commit" "$changed" >"$dir/.git" && mv -- "$dir/.git" "$dir/git"
}
# Who saw run $newest as the member's last ("-": none) does not start it once more over a later one.
nothing_is_newer() {
  seen_started=-1
  [ "$newest" = - ] || { first_line "$member_dir/$newest/started" && seen_started=$line; } || return 0
  for old_run in "$member_dir"/*/; do
    ! first_line "${old_run}started" || [ "$line" -le "$seen_started" ] || return 1
  done
}
superseded() {
  unlock
  hold
  printf '@ superseded\n'
  finish
}
# Keeps the newest 20 ended runs of the member.
prune() {
  kept=0
  for old_run in $(cd -- "$member_dir" && ls -r); do
    [ -d "$member_dir/$old_run" ] && ended "$member_dir/$old_run" || continue
    kept=$((kept + 1))
    [ "$kept" -le 20 ] || rm -rf -- "$member_dir/${old_run:?}"
  done
}
write_record() {
  full="The state folder $root cannot be written (is the disk full?)."
  mkdir -- "$new_dir" 2>/dev/null || refuse "$full"
  {
    # Allocated now, so that a disk that fills up cannot swallow the verdict.
    printf '%63s\n' '' >"$new_dir/end" &&
      put version 1 && put session "${session#%}" && put stage "${stage#%}" && put member "${member#%}" && put run "$run" &&
      put machine "$machine" && put hostname "$hostname" && put command "$command" && put cwd "$here" &&
      put shell "$shell" && put from "$from" && put path "$path_prefix" && put started "$now" && put salt "$salt" &&
      { [ -z "$program" ] || put program "$program"; } && { [ -z "$counts" ] || put counts "$counts"; } &&
      printf '%s\n' "$wrapper_text" >"$new_dir/wrapper.sh" && printf '%s\n' "$job_text" >"$new_dir/job.sh"
  } 2>/dev/null || refuse "$full"
  count=0
  while [ "$count" -lt "$setup_count" ]; do
    eval "put setup.$count \"\$setup_$count\"" 2>/dev/null || refuse "$full"
    count=$((count + 1))
  done
  mv -- "$new_dir" "$dir" 2>/dev/null || refuse "$full"
  new_dir=
  [ "$log" != "$dir/output.log" ] || : >"$log"
  { printf '%s\n' "$log" >"$dir/log" && stat -L -c '%d %i %s' -- "$log" >"$dir/log-start"; } 2>/dev/null
}

new_dir=
read -r me rest </proc/self/stat
session_dir=$root/v1/$host/$session
member_dir=$session_dir/$stage/$member
dir=$member_dir/$run
mkdir -p -- "$member_dir" 2>/dev/null || refuse "The state folder $root cannot be written."
if command -v setsid >/dev/null 2>&1; then
  detach=setsid
elif busybox setsid true >/dev/null 2>&1; then
  detach='busybox setsid'
else
  refuse "This host has no setsid (package util-linux), without which a job would die with the connection."
fi
case $shell in
  auto) if command -v bash >/dev/null 2>&1; then shell=bash; else shell=sh; fi ;;
  bash) command -v bash >/dev/null 2>&1 || refuse "This host has no bash, which the session file asks for." ;;
esac
take_lock
for old_run in "$member_dir"/*/; do
  old_run=${old_run%/}
  [ -d "$old_run" ] && ! ended "$old_run" && run_alive "$old_run" || continue
  unlock
  answer running "${old_run##*/}"
done
[ -z "$after" ] || retry_is_due || superseded
[ -z "$newest" ] || nothing_is_newer || superseded
check_places
check_environment
find_salt
now
new_dir=$member_dir/.$run
write_record
prune
# The part that answers goes to the background, and the job's wrapper does not: a shell makes what it starts with & ignore
# INT and QUIT, and a job that ignores INT cannot be stopped by it. What is started in the foreground is waited for, so
# the wrapper ends the one that waits for it.
# What the job writes of itself after this mark it tells itself.
ring() {
  rung=1
  : >"$dir/.told"
  printf '%s\n' "$stage/$member/$run" 2>/dev/null >>"$session_dir/changes"
}
keep_script() { printf '%s\n' "$2" >"$flight/.script.$run" && mv -- "$flight/.script.$run" "$flight/$1"; }
# Somebody has to remember the night: recorder.sh, unless it runs already. A launch goes on without it. It is looked for when
# the run is on its list, so that one that is about to end sees the run. None of the run's environment goes with it.
keep_recorder() (
  flight=$root/v1/$host/.recorder
  mkdir -p -- "$flight" || return
  [ -z "$counts" ] || keep_script outputs.sh "$counts_text"
  printf '%s\n' "$session/$stage/$member/$run" >>"$flight/runs" || return
  ! { first_line "$flight/lock" && alive "$line"; } || return
  keep_script recorder.sh "$recorder_text" || return
  unset ML_SESSION_RUN
  PATH=${path_prefix:+$path_prefix:}$PATH
  # shellcheck disable=SC2086
  $detach sh "$flight/recorder.sh" "$flight" "$boot" "$uid" "$recorder_seconds" "$recorder_bytes" \
    "$fields_1" "$fields_2" "$fields_3" </dev/null 5>&- &
) >/dev/null 2>&1
answer_when_started() {
  job_begins
  trap over EXIT
  note_git </dev/null >/dev/null 2>&1 &
  git_looks=$!
  rung=
  tries=0
  # Until the job's identity is written, then half a second more for what dies at once.
  until [ -s "$dir/process" ] || [ "$tries" -ge 50 ]; do
    tries=$((tries + 1))
    sleep 0.1 2>/dev/null || sleep 1
  done
  unlock
  tries=0
  until { ended "$dir" && [ -e "$dir/environment" ]; } || [ "$tries" -ge 5 ]; do
    # Told to others when the record says what the job got.
    [ -n "$rung" ] || [ ! -e "$dir/environment" ] || ring
    tries=$((tries + 1))
    sleep 0.1 2>/dev/null || sleep 1
  done
  [ -n "$rung" ] || ring
  ended "$dir" || [ -z "$recorder_text" ] || keep_recorder
  wait "$git_looks"
  answer launched "$run"
}
answer_when_started &
# The lock belongs to the part that takes it away.
stat_of "$!" && printf '%s %s %s %s\n' "$!" "$ticks" "$boot" "$uid" >"$mine.next" && mv -- "$mine.next" "$lock"
# The values go by the wrapper's environment, as the job's own do: neither on disk nor in anybody's process list.
ML_ENVIRONMENT=$environment
export ML_ENVIRONMENT
(
  kill -s KILL "$me"
  # shellcheck disable=SC2086
  exec $detach sh "$dir/wrapper.sh" "$dir" "$log" "$boot" "$uid" "$detach" "$shell" "$old_umask" </dev/null >/dev/null 2>&1 5>&-
)
exit 0
