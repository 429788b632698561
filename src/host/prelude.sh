# shellcheck shell=sh disable=SC2015,SC2034,SC2088,SC3013,SC2154
# What all host scripts share. The product sends it in front of each script, with its own assignments between them:
# nonce, and after the first probe root, host, boot and uid. Only builtins where something is called often.
# SC3013: -ef is not POSIX, but dash, bash and busybox have it, and nothing else compares files without a process.

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

# The life of a long channel. The product writes a line each 30 s; the loop in `work` calls `tick SECONDS` after each of
# its rounds, which ends everything after 90 s without such a line. The end of standard input ends it at once.
# $worker is our own unreaped child and $$ is checked as its parent, so no signal can reach a stranger.
serve() {
  work &
  worker=$!
  trap 'kill "$worker" 2>/dev/null; exit 0' TERM HUP INT PIPE
  while IFS= read -r beat; do kill -USR1 "$worker" 2>/dev/null || break; done
  kill "$worker" 2>/dev/null
  wait "$worker" 2>/dev/null
  exit 0
}
# Called in `work` before the first line is printed: the product writes nothing before that line.
work_begins() {
  silence=0 since_beat=0 child=
  trap 'silence=0' USR1
  trap 'work_ends' TERM HUP INT PIPE
  exec </dev/null
}
work_ends() {
  trap '' TERM
  [ -z "$child" ] || kill "$child" 2>/dev/null
  stat_of self && [ "$parent" = "$$" ] && kill -TERM "$$" 2>/dev/null
  exit 0
}
# In the background and waited for, so that a signal is answered at once.
pause() {
  sleep "$1" &
  wait "$!"
}
tick() {
  silence=$((silence + $1)) since_beat=$((since_beat + $1))
  [ "$silence" -lt 90 ] || work_ends
  stat_of self && [ "$parent" = "$$" ] || work_ends
  [ "$since_beat" -lt 30 ] || {
    since_beat=0
    beat
  }
}
