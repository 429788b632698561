# shellcheck shell=sh disable=SC2015,SC2034,SC2154,SC2317,SC3045
# The one shell that a connection keeps: start-up files are paid for once. In: nonce, silence_limit. It reads lines: "ask ID
# BYTES", "stream ID BYTES" and "launch ID BYTES", each followed by so many bytes of script; "again ID" for a script that waits
# for that; "stop ID"; an empty line as a sign of life. Requests run beside each other; one of them at a time prints, by a token in a pipe of our own.
# Standard output: "NONCE ID" opens what a request prints, "NONCE more" closes it, "NONCE ID over" ends the request,
# "NONCE beat" answers a sign of life; each between line feeds.
take() { until read -r token <&5; do :; done; }
give() { printf '\n' >&5; }
# Whoever holds the token must give it back, so it is not ended meanwhile, and where nobody reads any more it gives it back
# before it ends.
take_turn() {
  trap 'stopping=1' TERM
  take
  trap 'give; job_ends' PIPE
}
end_turn() {
  give
  trap job_ends TERM
  trap - PIPE
  [ -z "$stopping" ] || job_ends
}
hold() {
  take_turn
  printf '\n%s %s\n' "$nonce" "$id"
}
release() {
  printf '\n%s more\n' "$nonce"
  end_turn
}
# A whole message in one piece: each piece is a packet of its own on the wire.
tell() {
  take_turn
  printf '\n%s %s\n%s\n\n%s more\n' "$nonce" "$id" "$1" "$nonce"
  end_turn
}
# What is let go in this moment ends a little later: a token that was not given back would silence all others.
over() {
  take_turn
  printf '\n%s %s over\n' "$nonce" "$id"
  give
}
job_begins() {
  stopping='' child='' ticker=''
  trap job_ends TERM
}
job_ends() {
  trap '' TERM
  trap - EXIT
  end_children
  exit 0
}
# The last line of what a script says goes out with it.
finish_stream() {
  printf '@ end %s\n' "$nonce"
  release
  trap - EXIT
  over
  exit 0
}
# A script that answers: its output is kept until it is complete.
run_ask() {
  exec </dev/null 6>&-
  job_begins
  trap over EXIT
  finish() {
    printf '@ end %s\n' "$nonce"
    exit 0
  }
  answer=$(eval "$text")
  hold
  printf '%s\n' "$answer"
  release
  exit 0
}
# A script that prints bytes, or goes on: it calls hold and release itself.
run_stream() {
  exec 6>&-
  job_begins
  trap over EXIT
  finish() { finish_stream; }
  eval "$text"
  exit 0
}
# A shell makes what it starts with & ignore INT and QUIT for ever, so the launch runs in the foreground; it lets go by
# itself (see launch.sh).
run_launch() (
  exec </dev/null 6>&-
  job_begins
  trap over EXIT
  finish() { finish_stream; }
  eval "$text"
  exit 0
)

our_child() { stat_of "$1" && [ "$parent" = "$main" ] && [ "$state" != Z ]; }
note_job() {
  jobs="$jobs$id:$! "
  [ "${#jobs}" -gt 2000 ] || return
  kept=
  for one in $jobs; do
    if our_child "${one#*:}"; then kept="$kept$one "; else wait "${one#*:}"; fi
  done
  jobs=$kept
}
end_job() {
  for one in $jobs; do
    case $one in
      "$1":*) our_child "${one#*:}" && kill -TERM "${one#*:}" ;;
    esac
  done
}
# For one that waits at the pipe that it was started with.
wake_job() {
  for one in $jobs; do
    case $one in
      "$1":*) our_child "${one#*:}" && printf '\n' >"/proc/${one#*:}/fd/7" ;;
    esac
  done
}
# The link that was cut may have ended whoever held the token: now everybody gets one, and one for what it has started.
end_all() {
  trap '' TERM HUP PIPE
  for one in $jobs; do
    our_child "${one#*:}" && kill -TERM "${one#*:}"
    give
    give
  done
  [ -z "$dog" ] || kill "$dog"
  exit 0
}
# Ends all after a silence: a link that is half open leaves nothing behind. It hears of each sign of life by a pipe, since a
# process for each would be most of what a quiet link costs; where no `read` has a time limit it is started anew. Where we
# were killed meanwhile, our number may be another's.
end_main() { stat_of self && [ "$parent" = "$main" ] && kill -TERM "$main"; }
start_dog() {
  (read -r -t 0 nothing <&6) 2>/dev/null
  if [ "$?" -ne 2 ]; then
    (
      while read -r -t "$silence_limit" nothing <&6; do :; done
      end_main
    ) </dev/null >/dev/null &
  elif command -v bash >/dev/null 2>&1; then
    bash --norc -c 'while read -r -t "$2"; do :; done
read -r own name state parent rest </proc/self/stat
[ "$parent" = "$1" ] && kill -TERM "$1"' bash "$main" "$silence_limit" <&6 >/dev/null &
  else
    exec 6>&-
    dog_hears=
    (
      trap 'kill "$asleep"; exit 0' TERM
      sleep "$silence_limit" &
      asleep=$!
      wait "$asleep"
      end_main
    ) </dev/null >/dev/null &
  fi
  dog=$!
}
heard() {
  if [ -n "$dog_hears" ]; then
    printf '\n' >&6
    return
  fi
  kill "$dog"
  wait "$dog"
  start_dog
}
main() {
  exec 5<>/proc/self/fd/0 <&3 3<&-
  read -r main rest </proc/self/stat
  jobs='' dog='' dog_hears=1
  give
  trap end_all TERM HUP PIPE
  start_dog
  while read -r word id bytes; do
    case $word in
      '')
        heard
        take
        printf '\n%s beat\n' "$nonce"
        give
        ;;
      again) wake_job "$id" ;;
      stop) end_job "$id" ;;
      ask | stream | launch)
        # So many bytes of standard input, and not one more. Where dd cannot wait for a full block each is a system call.
        text=$(dd bs="$bytes" count=1 iflag=fullblock) || text=$(dd bs=1 count="$bytes")
        case $word in
          ask) run_ask & ;;
          stream) : | run_stream & ;;
          launch) run_launch ;;
        esac
        [ "$word" = launch ] || note_job
        ;;
    esac
  done
  end_all
}
begin
exec 3<&0 2>/dev/null
# Two pipes of our own: what the dog hears by, and the token.
: | {
  exec 6<>/proc/self/fd/0
  : | main
}
