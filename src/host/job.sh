# shellcheck shell=sh disable=SC2088
# Copied into the run's folder: runs the lines of setup, notes which program the command means, becomes the command.
dir=$1 shell=$2
set --
text_of() {
  text=$(cat -- "$1" && printf x)
  text=${text%x}
  text=${text%?}
}
number=0
while [ -f "$dir/setup.$number" ]; do
  text_of "$dir/setup.$number"
  eval "$text"
  code=$?
  if [ "$code" -ne 0 ]; then
    (umask 077 && printf '%s\n' "$code $text" >"$dir/setup-failed") 2>/dev/null
    printf 'ml-session: the setup line failed with exit code %s: %s\n' "$code" "$text" >&2
    exit "$code"
  fi
  number=$((number + 1))
done
text_of "$dir/command"
# The first word that is no assignment; what only the shell could work out is left alone.
first=
set -f
for word in $text; do
  case $word in
    [A-Za-z_]*=*) ;;
    *)
      first=$word
      break
      ;;
  esac
done
set +f
case $first in
  *[\'\"\`\$\(\)\{\}\;\&\|\<\>\\\*\?\[]* | '') ;;
  *)
    case $first in '~/'*) first=$HOME/${first#??} ;; esac
    (umask 077 && command -v -- "$first" >"$dir/.binary") 2>/dev/null
    ;;
esac
[ ! -f "$dir/.binary" ] || mv -- "$dir/.binary" "$dir/binary" 2>/dev/null
if [ "$shell" = bash ]; then exec bash -o pipefail -c -- "$text"; else exec sh -c -- "$text"; fi
