# shellcheck shell=sh disable=SC2154
# CPU time of all that we run here, children that have ended included, in clock ticks (proc(5): 1/100 s on all common
# kernels). That is the shell of the control channel with all below it, and where a server of SSH has started it also that
# server's process for this connection and its other channels of ours. Answers "@ ticks N" or "@ unknown".
total=0
# $1 and all below it. A kernel without lists of children cannot tell cheaply.
walk() {
  cost_line=
  { while IFS= read -r cost_part || [ -n "$cost_part" ]; do cost_line="$cost_line$cost_part "; done; } 2>/dev/null <"/proc/$1/stat" || return
  below=
  { read -r below || :; } 2>/dev/null <"/proc/$1/task/$1/children"
  # shellcheck disable=SC2086
  set -- "$below" ${cost_line##*) }
  total=$((total + ${13:-0} + ${14:-0} + ${15:-0} + ${16:-0}))
  # shellcheck disable=SC2086
  set -- $1
  for one; do walk "$one"; done
}
if [ ! -r "/proc/$$/task/$$/children" ]; then
  printf '@ unknown\n'
  finish
fi
stat_of "$$"
server=$parent
first_line "/proc/$server/comm"
case $line in
  sshd* | dropbear*)
    cost_line=
    { IFS= read -r cost_line || :; } 2>/dev/null <"/proc/$server/stat"
    channels=
    { read -r channels || :; } 2>/dev/null <"/proc/$server/task/$server/children"
    # shellcheck disable=SC2086
    set -- ${cost_line##*) }
    total=$((total + ${12:-0} + ${13:-0} + ${14:-0} + ${15:-0}))
    for channel in $channels; do
      first_line "/proc/$channel/comm"
      [ "$line" != "sh" ] || walk "$channel"
    done
    ;;
  *) walk "$$" ;;
esac
printf '@ ticks %s\n' "$total"
finish
