#!/bin/sh
# Plays a score: play.sh SCORE TARGET
# A line is "centiseconds TAB act TAB path TAB payload", counted from the start; see src/demo/score.ts.
score=$1
target=$2
owner=0
# shellcheck source=/dev/null
. "$HOME/.demo/settings" # owner: the process that plays the demo
tab=$(printf '\t')

# The demo host lives in the editor's own process: what it plays must not outlive that, however it ends.
alive() {
  [ -e "$HOME/.demo/alive" ] && [ -d "/proc/$owner" ]
}

# Sets now in centiseconds, without starting a process.
read_clock() {
  read -r up _ </proc/uptime
  now=${up%.*}${up#*.}
}

# Sets file to where a path of the score lies, and makes its folder.
place() {
  file=$target/$1
  mkdir -p "${file%/*}"
}

read_clock
start=$now
while IFS=$tab read -r at act path payload; do
  read_clock
  left=$((start + at - now))
  while [ "$left" -gt 0 ]; do
    alive || exit 143
    [ "$left" -le 100 ] || left=100
    hundredths=$((100 + left % 100))
    sleep "$((left / 100)).${hundredths#1}"
    read_clock
    left=$((start + at - now))
  done
  case $act in
  out) printf '%b' "$payload" ;;
  append) place "$path" && printf '%b' "$payload" >>"$file" ;;
  grow) place "$path" && head -c "$payload" /dev/zero >>"$file" ;;
  esac || exit 1
done <"$score"
