# shellcheck shell=sh disable=SC2154
# CPU time of all that we run here, children that have ended included, in clock ticks (proc(5): 1/100 s on all common
# kernels). That is the shell of the control channel with all below it, and where a server of SSH has started it also that
# server's process for this connection and its other channels of ours. Answers "@ ticks N" or "@ unknown". awk reads all of
# /proc's files in one process, by blocks; a shell reads a byte a system call. It takes this shell's place
# and says the last line itself: a process less.
if [ ! -r "/proc/$$/task/$$/children" ] || ! command -v awk >/dev/null; then
  printf '@ unknown\n'
  finish
fi
exec awk -v control="$$" -v nonce="$nonce" '
  # The fields of /proc/PID/stat after the name, which may hold anything.
  function look(pid, file, line, text) {
    file = "/proc/" pid "/stat"
    text = ""
    while ((getline line < file) > 0) text = text " " line
    close(file)
    sub(/.*\) /, "", text)
    return split(text, field, " ") > 20
  }
  function first(file, line) {
    line = ""
    getline line < file
    close(file)
    return line
  }
  function below(pid) { return first("/proc/" pid "/task/" pid "/children") }
  function add() { total += field[12] + field[13] + field[14] + field[15] }
  function walk(pid, list, n, i) {
    if (!look(pid)) return
    add()
    n = split(below(pid), list, " ")
    for (i = 1; i <= n; i++) walk(list[i])
  }
  BEGIN {
    total = 0
    look(control)
    server = field[2]
    if (first("/proc/" server "/comm") ~ /^(sshd|dropbear)/) {
      if (look(server)) add()
      n = split(below(server), channels, " ")
      for (i = 1; i <= n; i++) if (first("/proc/" channels[i] "/comm") == "sh") walk(channels[i])
    } else walk(control)
    printf "@ ticks %.0f\n@ end %s\n", total, nonce
  }'
