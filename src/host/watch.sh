# shellcheck shell=sh disable=SC2015,SC2154
# All records of a session, then each that changes. Launches and wrappers add a line to the session's `changes`; an open
# descriptor reads on from where it stood, so a round costs builtins and a wait. Runs under way are judged by /proc
# each round, which also finds those whose doorbell could not ring (full disk, killed wrapper).
base=$root/v1/$host/$session
# Relative paths of runs without a verdict, each followed by a blank.
running=
# Adds to those known: one that died since the last round has not been told yet.
note_running() {
  for run_dir in "$base"/*/*/*/; do
    run_dir=${run_dir%/}
    [ -d "$run_dir" ] && ! ended "$run_dir" && run_alive "$run_dir" || continue
    case " $running" in
      *" ${run_dir#"$base/"} "*) ;;
      *) running="$running${run_dir#"$base/"} " ;;
    esac
  done
}
# Its end has been told.
forget() {
  case " $running" in
    *" $1 "*)
      kept=" $running"
      kept="${kept%%" $1 "*} ${kept#*" $1 "}"
      running=${kept# }
      ;;
  esac
}
print_run() {
  hold
  print_live "$1"
  print_fields "$host" "$1"
  printf '@ done\n'
  release
}
open_changes() {
  [ -z "$changes_open" ] && [ -r "$base/changes" ] && exec 4<"$base/changes" && changes_open=1
}
prepare_pause "$pace"
changes_open=
if open_changes; then while IFS= read -r change <&4; do :; done; fi
note_running
hold
print_all
release
while kill -0 "$main"; do
  pause "$pace"
  open_changes
  if [ -n "$changes_open" ]; then
    while IFS= read -r change <&4; do
      # Only names of ours: three parts, no dots alone.
      case $change in
        *[!A-Za-z0-9._/%-]* | */../* | ../* | */.. | '') ;;
        */*/*)
          # Before it is printed: what dies right after that must be among those that are looked after.
          note_running
          live=
          print_run "$change"
          # That a record was deleted is told below.
          [ "$live" = 1 ] || [ ! -d "$base/$change" ] || forget "$change"
          ;;
      esac
    done
  fi
  still=
  for path in $running; do
    if run_alive "$base/$path"; then
      still="$still$path "
    elif [ -d "$base/$path" ]; then
      print_run "$path"
    else
      hold
      printf '@ deleted %s\n@ done\n' "$path"
      release
    fi
  done
  running=$still
done
hold
finish
