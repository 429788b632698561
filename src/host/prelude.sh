# shellcheck shell=sh disable=SC2015,SC2034,SC2088,SC3013,SC3045,SC2154
# What all host scripts share. The product sends it in front of each script, with its own assignments between them:
# nonce, and after the first probe root, host, boot, uid and pace, the seconds between looks. Only builtins where something is called often.
# SC3013: -ef is not POSIX, but dash, bash and busybox have it, and nothing else compares files without a process.
# SC3045: read -t is tried before it is used.

# Lines of the host to the product. Everything before the first mark is what start-up files printed.
begin() {
  printf '\n%s begin\n' "$nonce"
  printf '\n%s begin\n' "$nonce" >&2
}
# A script that does not end with this line was cut off, and its answer is not used.
finish() {
  printf '@ end %s\n' "$nonce"
  exit 0
}

# ~ and ~/x become paths; the rest is left as it is.
expand() {
  case $1 in
    '~') expanded=$HOME ;;
    '~/'*) expanded=$HOME/${1#??} ;;
    *) expanded=$1 ;;
  esac
}

# Wall clock in ms. busybox's date may lack %N: then full seconds.
now() {
  now=$(date +%s%3N 2>/dev/null)
  case $now in
    *[!0-9]* | '') now=$(date +%s)000 ;;
  esac
  [ "${#now}" -ge 13 ] || now=$(date +%s)000
}

# State, parent, group, session and start time of a process; false when there is none. The name in the second field
# may hold blanks, parentheses and line breaks, so all is read and cut after its last parenthesis.
stat_of() {
  stat_line=
  { while IFS= read -r stat_part || [ -n "$stat_part" ]; do stat_line="$stat_line$stat_part "; done; } 2>/dev/null <"/proc/$1/stat" || return 1
  [ -n "$stat_line" ] || return 1
  stat_line=${stat_line##*) }
  # shellcheck disable=SC2086
  set -- $stat_line
  state=$1 parent=$2 group=$3 ticks=${20}
  [ -n "$ticks" ]
}

# Whether "pid ticks boot uid" names a process that runs now. A zombie does not run.
alive() {
  # shellcheck disable=SC2086
  set -- $1
  [ "$3" = "$boot" ] || return 1
  case $1 in *[!0-9]* | '') return 1 ;; esac
  stat_of "$1" && [ "$ticks" = "$2" ] && [ "$state" != Z ] && [ "$state" != X ]
}

# First line of a file into $line, or nothing.
first_line() {
  line=
  { IFS= read -r line || :; } 2>/dev/null <"$1"
  [ -n "$line" ]
}

# Whether a run has its verdict: the end file is allocated as blanks at the start.
ended() {
  first_line "$1/end" || return 1
  case $line in code* | signal*) return 0 ;; *) return 1 ;; esac
}

# Whether the job or the one who writes its verdict runs.
run_alive() {
  first_line "$1/process" && alive "$line" && return 0
  first_line "$1/wrapper" && alive "$line"
}

# The life of a channel of its own. The product writes a line each third of `silence_limit`; the loop in `work` calls `tick SECONDS` after each
# of its rounds, which ends everything after `silence_limit` seconds without such a line. The end of standard input ends
# it at once. $worker is our own unreaped child, so no signal can reach a stranger.
serve() {
  # The pipe is what `pause` waits on.
  : | work &
  worker=$!
  trap 'kill "$worker" 2>/dev/null; exit 0' TERM HUP INT PIPE
  (read -r -t 0 beat </dev/null) 2>/dev/null
  if [ "$?" -ne 2 ]; then
    # The worker need not be woken to be told of each line.
    while IFS= read -r -t "$silence_limit" beat; do :; done
  else
    while IFS= read -r beat; do kill -USR1 "$worker" 2>/dev/null || break; done
  fi
  kill "$worker" 2>/dev/null
  wait "$worker" 2>/dev/null
  exit 0
}
# Called in `work` before the first line is printed: the product writes nothing before that line.
work_begins() {
  silence=0 since_beat=0 child='' ticker=''
  trap 'silence=0' USR1
  trap 'work_ends' TERM HUP INT PIPE
  prepare_pause 5
}
work_ends() {
  trap '' TERM
  end_children
  stat_of self && [ "$parent" = "$$" ] && kill -TERM "$$" 2>/dev/null
  exit 0
}
end_children() {
  [ -z "$child" ] || kill "$child" 2>/dev/null
  [ -z "$ticker" ] || kill "$ticker" 2>/dev/null
}
# A `sleep` for each round would be most of what watching costs. Standard input is a pipe whose other end is closed: held
# open for both, it stays silent, and `read -t` on it is a wait. dash has no -t (status 2): there one bash that writes a
# line each $1 seconds is waited for, and a `sleep` only where there is no bash, or for a shorter wait than that.
prepare_pause() {
  step=$1
  exec 7<>/proc/self/fd/0 </dev/null
  (read -r -t 0 nothing <&7) 2>/dev/null
  if [ "$?" -ne 2 ]; then
    waits=self
  elif command -v bash >/dev/null 2>&1; then
    waits=ticker
    read -r self rest </proc/self/stat
    # Status 1 would be no time-out: then it would turn without end.
    # With start-up files (Debian's bash reads them for what SSH runs) it would cost more than it saves.
    : | bash --norc -c 'exec 0<>/proc/self/fd/0
while kill -0 "$1"; do read -r -t "$2"; [ "$?" -gt 128 ] || exit; echo; done' bash "$self" "$step" >&7 2>/dev/null &
    ticker=$!
  else
    waits="sleep"
  fi
}
pause() {
  case $waits$((step > $1)) in
    self?) read -r -t "$1" nothing <&7 ;;
    ticker0)
      ticks_left=$1
      while [ "$ticks_left" -gt 0 ]; do
        read -r nothing <&7
        ticks_left=$((ticks_left - step))
      done
      ;;
    *)
      # Waited for, so that a signal is answered at once.
      sleep "$1" &
      wait "$!"
      ;;
  esac
}
tick() {
  silence=$((silence + $1)) since_beat=$((since_beat + $1))
  [ "$waits" = self ] || [ "$silence" -lt "$silence_limit" ] || work_ends
  kill -0 "$$" 2>/dev/null || work_ends
  [ "$((since_beat * 3))" -lt "$silence_limit" ] || {
    since_beat=0
    beat
  }
}
