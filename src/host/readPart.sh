# shellcheck shell=sh disable=SC2154
# A part of a file as it is. In: path offset length.
expand "$path"
path=$expanded
refuse() {
  hold
  printf '@ refused %s\n' "$1"
  finish
}
[ -e "$path" ] || refuse "It does not exist."
[ -f "$path" ] || refuse "It is not a regular file."
[ -r "$path" ] || refuse "Reading it is not permitted."
exec 3<"$path"
hold
printf '@ ok\n'
# Moves the shared offset without reading what is before it.
dd bs=1 skip="$offset" count=0 <&3 2>/dev/null
head -c "$length" <&3
finish
