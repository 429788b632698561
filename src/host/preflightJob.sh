# shellcheck shell=sh disable=SC2034,SC2154
# What a job would find, after setup.sh, program.sh and assignments of ml_session_word, ml_session_through,
# ml_session_setup_count and ml_session_setup_N: runs in the launch's folder and environment and tells on descriptor 3.
ml_session_shell=$1
set --
ml_session_plain() {
  { set +euxvf; } 2>/dev/null
  unset IFS
}
ml_session_setup_exits() {
  ml_session_code=$?
  ml_session_plain
  [ "$ml_session_code" -ne 0 ] || ml_session_code=1
  printf '@ setup %s %s\n' "$ml_session_number" "$ml_session_code" >&3
  trap - EXIT
  exit 1
}
ml_session_number=0
trap ml_session_setup_exits EXIT
while [ "$ml_session_number" -lt "$ml_session_setup_count" ]; do
  printf '@ trying %s\n' "$ml_session_number" >&3
  eval "ml_session_setup_line=\$ml_session_setup_$ml_session_number"
  ml_session_prepare "$ml_session_setup_line" "$ml_session_shell"
  eval "$ml_session_setup_line"
  ml_session_code=$?
  ml_session_plain
  [ "$ml_session_code" -eq 0 ] || (exit "$ml_session_code") || exit "$ml_session_code"
  ml_session_number=$((ml_session_number + 1))
done
trap - EXIT
printf '@ ready\n' >&3
[ -n "$ml_session_word" ] || exit 0
if ml_session_resolve "$ml_session_word" "$ml_session_through"; then
  printf '@ program %s\n' "$ml_session_found" >&3
  # A virtual environment that was moved still names the Python that it had.
  ml_session_line=
  [ ! -r "$ml_session_found" ] || ml_session_line=$(head -c 256 -- "$ml_session_found" | tr -d '\000' | head -n 1)
  case $ml_session_line in
    '#!'*)
      ml_session_line=${ml_session_line#??}
      # A first line that says `#! /bin/sh` means the same.
      ml_session_line=${ml_session_line#"${ml_session_line%%[! ]*}"}
      ml_session_line=${ml_session_line%% *}
      [ -z "$ml_session_line" ] || [ -x "$ml_session_line" ] || printf '@ interpreter %s\n' "$ml_session_line" >&3
      ;;
  esac
else
  printf '@ no-program\n' >&3
fi
