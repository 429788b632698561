# shellcheck shell=sh disable=SC2016,SC2046,SC2086,SC2154
# Numbers of one field in the JSON of each line of what a stage writes: the numbers alone leave the host. After matches.sh and
# outputs.sh. In: cwd; output_count output_N; field, names of keys from the outermost, joined by dots; known_count known_N,
# each "DEVICE:INODE OFFSET", how far a file was read; most, bytes to read; whole, 1 where a last line without its line feed
# counts. Answers:
#   @ file DEVICE:INODE OFFSET   how far it was read
#   @ count VALUE LINES          large values to 1 in 2048
#   @ lines ALL WITHOUT ENDED    how many there were, how many lack the field, how many were ended by their limit
#   @ rest BYTES                 not read this time   @ shorter   a file is shorter than what was read of it   @ took MS
nice=
! command -v nice >/dev/null 2>&1 || nice='nice -n 19'
expand "${cwd:-$HOME}"
cwd=$expanded
now
began=$now
# A key is told from a text by what stands around it: without what backslashes lead, no quote is inside a string, and only
# after a key there is a colon. Without strings a line is braces, numbers and the keys that are asked for; where they stand
# is told by the depth.
counting='
function keep(line,    parts, part, i, j, depth, found, text, brace, value, step) {
  lines++
  gsub(/\\./, "?", line)
  if (line ~ /"finish_reason"[ \t]*:[ \t]*"length"/) ended++
  for (i = 1; i <= keys; i++) gsub("\"" key[i] "\"[ \t]*:", "\001" i "\001", line)
  gsub(/"[^"]*"/, "", line)
  parts = split(line, part, "\001")
  for (i = 1; i <= parts; i++) {
    if (i % 2 == 0) {
      if (part[i] != asked[found + 1] || depth != found + 1) continue
      if (found + 1 == names) {
        if (part[i + 1] !~ /^[ \t]*[0-9]/) continue
        value = int(part[i + 1])
        for (step = 1; value / step >= 4096;) step *= 2
        count[value - value % step]++
        return
      }
      if (part[i + 1] ~ /^[ \t]*\{/) found++
      continue
    }
    text = part[i]
    gsub(/[^][{}]/, "", text)
    for (j = 1; j <= length(text); j++) {
      brace = substr(text, j, 1)
      if (brace == "{" || brace == "[") depth++
      else if (--depth == found && found > 0) found--
    }
  }
  without++
}
BEGIN {
  names = split(field, name, ".")
  for (i = 1; i <= names; i++) {
    if (!(name[i] in place)) { key[++keys] = name[i]; place[name[i]] = keys }
    asked[i] = place[name[i]]
  }
}
NR > 1 { if (previous != "") keep(previous) }
{ previous = $0; bytes += length($0) + 1 }
END {
  left = 0
  if (NR > 0 && bytes == given || whole) { if (previous != "") keep(previous) }
  else left = length(previous)
  printf "@ file %s %.0f\n", id, start + given - left
  for (value in count) printf "@ count %.0f %d\n", value, count[value]
  printf "@ lines %d %d %d\n", lines, without, ended
}'
# Lines "START BYTES DEVICE:INODE PATH" of what is to be read, then what is left.
plan='
$1 == "known" { start[$2] = $3; next }
NF > 3 {
  id = $1; size = $2; sub(/^[^ ]* [^ ]* [^ ]* /, "")
  from = id in start ? start[id] : 0
  if (size < from) { print "shorter"; next }
  if (size == from) next
  take = size - from
  if (take > most - sum) take = most - sum
  sum += take
  rest += size - from - take
  if (take > 0) printf "part %.0f %.0f %s %s\n", from, take, id, $0
}
END { printf "rest %.0f\n", rest }'
print_known() {
  number=0
  while [ "$number" -lt "$known_count" ]; do
    eval "printf 'known %s\n' \"\$known_$number\""
    number=$((number + 1))
  done
}
read_parts() {
  while IFS= read -r part; do
    case $part in
      part*)
        # Not by `read start bytes …`, which takes the blanks from the end of a name.
        path=/${part#* /}
        [ -r "$path" ] || continue
        set -- ${part%% /*}
        { dd bs=1 skip="$2" count=0 && $nice head -c "$3"; } 2>/dev/null <"$path" |
          LC_ALL=C $nice awk -v field="$field" -v id="$4" -v start="$2" -v given="$3" -v whole="$whole" "$counting" ||
          printf '@ file %s %s\n' "$4" "$2"
        ;;
      *) printf '@ %s\n' "$part" ;;
    esac
  done
}
{
  print_known
  # A name with a line feed would be two lines of the list.
  print_outputs | stats | grep '^[0-9]*:[0-9]* [0-9]* [0-9]* /'
} | LC_ALL=C awk -v most="$most" "$plan" | read_parts | LC_ALL=C awk '
$2 == "count" { count[$3] += $4; next }
$2 == "lines" { lines += $3; without += $4; ended += $5; next }
{ print }
END {
  for (value in count) printf "@ count %.0f %d\n", value, count[value]
  printf "@ lines %d %d %d\n", lines, without, ended
}'
now
printf '@ took %s\n' "$((now - began))"
finish
