# shellcheck shell=sh disable=SC2034,SC2154
# Copied into the run's folder, after setup.sh and program.sh: runs the lines of setup, notes what the job gets, becomes
# the command. Its names begin with ml_session_: the job's own variables are here already.
ml_session_dir=$1 ml_session_shell=$2
set --
# A field of the record into ml_session_text. The x keeps line feeds that belong to it.
ml_session_field() {
  ml_session_text=
  [ -f "$ml_session_dir/$1" ] || return 1
  ml_session_text=$(cat -- "$ml_session_dir/$1" && printf x)
  ml_session_text=${ml_session_text%x}
  ml_session_text=${ml_session_text%?}
}
# What a line of setup has left behind must not show what follows, or stop it.
ml_session_plain() {
  { set +euxvf; } 2>/dev/null
  unset IFS
}
ml_session_setup_failed() {
  (umask 077 && printf '%s\n' "$1 $ml_session_setup_line" >"$ml_session_dir/setup-failed") 2>/dev/null
  printf 'ml-session: the setup line %s: %s\n' "$2" "$ml_session_setup_line" >&2
  trap - EXIT
  exit "$1"
}
# The line itself ended the shell: by `exit`, by a file that it sourced, or because the shell could not read it.
ml_session_setup_exits() {
  ml_session_code=$?
  ml_session_plain
  if [ "$ml_session_code" -eq 0 ]; then
    ml_session_setup_failed 1 'ended the shell before the command'
  else
    ml_session_setup_failed "$ml_session_code" "failed with exit code $ml_session_code"
  fi
}
# "NAME HASH" for each variable of the environment, by one sha256sum that reads a named pipe for each. Values go through
# pipes of builtins alone: in no argument, in no file. An open of a pipe waits for its other end, so all stay in step.
ml_session_environment() {
  ml_session_names=$(env -0 | tr '\n\000' ' \n' | LC_ALL=C sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p' | LC_ALL=C sort | head -n 400)
  set --
  for ml_session_name in $ml_session_names; do
    case $ml_session_name in
      # What differs with each login or shell and says nothing.
      SSH_* | XDG_SESSION_* | DBUS_SESSION_BUS_ADDRESS | SHLVL | _ | PWD | OLDPWD | LS_COLORS | TERM | ML_SESSION_RUN) ;;
      # In the record as it is.
      PATH) ;;
      *) set -- "$@" "$ml_session_name" ;;
    esac
  done
  if ! { command -v sha256sum && mkdir -- "$ml_session_dir/.pipes" && cd -- "$ml_session_dir/.pipes" && mkfifo -- "$@"; } >&2; then
    printf '%s -\n' "$@"
    return
  fi
  sha256sum -- "$@" | while read -r ml_session_hash ml_session_name; do
    printf '%s %s\n' "$ml_session_name" "${ml_session_hash%"${ml_session_hash#????????????????}"}"
  done &
  for ml_session_name; do
    eval "printf '%s' \"\$ml_session_salt:$ml_session_name=\$$ml_session_name\"" >"$ml_session_name"
  done
  wait "$!"
}
# What the job got, for its record. The environment comes last: where it is, all is.
ml_session_facts() {
  umask 077
  printf '%s\n' "$PATH" >"$ml_session_dir/effective-path"
  if [ -n "$ml_session_word" ] && ml_session_resolve "$ml_session_word" "$ml_session_through"; then
    printf '%s\n' "$ml_session_found" >"$ml_session_dir/.binary" && mv -- "$ml_session_dir/.binary" "$ml_session_dir/binary"
  fi
  (ml_session_environment) >"$ml_session_dir/.environment"
  mv -- "$ml_session_dir/.environment" "$ml_session_dir/environment"
  rm -rf -- "$ml_session_dir/.pipes"
  # The launch waits for this a moment only; setup may take longer.
  [ ! -e "$ml_session_dir/.told" ] || {
    ml_session_stage=${ml_session_dir%/*/*}
    printf '%s\n' "${ml_session_dir#"${ml_session_stage%/*}/"}" >>"${ml_session_stage%/*}/changes"
  }
}
ml_session_field salt
ml_session_salt=$ml_session_text
ml_session_field program
ml_session_word=${ml_session_text%%"$ml_session_line_feed"*}
ml_session_through=${ml_session_text#*"$ml_session_line_feed"}
ml_session_field command
ml_session_command=$ml_session_text
ml_session_number=0
trap ml_session_setup_exits EXIT
while ml_session_field "setup.$ml_session_number"; do
  ml_session_setup_line=$ml_session_text
  ml_session_prepare "$ml_session_setup_line" "$ml_session_shell"
  eval "$ml_session_setup_line"
  ml_session_code=$?
  ml_session_plain
  [ "$ml_session_code" -eq 0 ] || ml_session_setup_failed "$ml_session_code" "failed with exit code $ml_session_code"
  ml_session_number=$((ml_session_number + 1))
done
trap - EXIT
# Beside the command, which must not wait for it, and not its child.
(ml_session_facts </dev/null >/dev/null 2>&1 &)
if [ "$ml_session_shell" = bash ]; then exec bash -o pipefail -c -- "$ml_session_command"; else exec sh -c -- "$ml_session_command"; fi
