# shellcheck shell=sh disable=SC2034
# PATH of the account's other shells, whose start-up files a command over SSH does not read.

# PATH as a program sees it, so that it does not matter how a shell writes it. The last line counts: start-up files print.
path_of() { sed -n 's/^PATH=//p' | tail -n 1; }
# By KILL: interactive shells ignore TERM.
at_most() {
  seconds=$1
  shift
  if command -v timeout >/dev/null 2>&1; then timeout -s KILL "$seconds" "$@"; else "$@"; fi
}
# $1 `login` or `interactive`: what a shell of that kind prints as its environment. 5 s.
print_shell() {
  shell_apart=
  shell_flag=l
  if [ "$1" = interactive ]; then
    shell_flag=i
    # In a session of its own: an interactive shell must not reach for a terminal.
    ! command -v setsid >/dev/null 2>&1 || shell_apart=setsid
  fi
  # tcsh takes -l only alone, and one that is given its command has no prompt, by which its files know that it is
  # interactive. An empty line ends its prompt.
  # shellcheck disable=SC2086
  case ${login_shell##*/} in
    csh | tcsh) printf 'echo; env\n' | at_most 5 $shell_apart "$login_shell" "-$shell_flag" ;;
    *) at_most 5 $shell_apart "$login_shell" "-${shell_flag}c" env </dev/null ;;
  esac
}
# Into $shell_path, "" where it gave none; $shell_late is 1 where its start-up took too long. Through a file: what a
# start-up file leaves running may keep its output open.
ask_shell() {
  shell_path=
  shell_late=
  shell_answer=$(umask 077 && mktemp) || return
  print_shell "$1" >"$shell_answer" 2>/dev/null
  case $? in 124 | 137 | 143) shell_late=1 ;; esac
  shell_path=$(path_of <"$shell_answer")
  rm -f -- "$shell_answer"
}
login_shell=${SHELL:-/bin/sh}
