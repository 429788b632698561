# shellcheck shell=sh disable=SC2015,SC2016,SC2034,SC2046,SC2086,SC2154
# What a stage wrote, and what of it is missing. In: root host cwd; key, a name for the question; max_age, how old an answer
# may be, seconds; since, when at the earliest it was looked for, ms, or nothing; watching, 1 while the stage writes;
# pattern_count pattern_N min_bytes; snapshot; output_count output_N count_kind at_least; log_path log_start log_line;
# command_text command_env command_shell command_limit env_file. Texts that are empty are not asked for.
# Answers facts and what is missing:
#   @ files FILES BYTES SECONDS   @ outputs COUNT FILES BYTES SECONDS   @ total BYTES   @ took MS
#   @ fault WORD …                (see the places where they are printed)
nice=
! command -v nice >/dev/null 2>&1 || nice='nice -n 19'
expand "${cwd:-$HOME}"
cwd=$expanded
missing=
fault() {
  missing=1
  # A name may hold anything, a line of the answer may not.
  printf '@ fault %s\n' "$(printf %s "$1" | tr '\001-\037\177' '?')"
}

# Paths as a stream, each ended by NUL: no list of arguments is long enough for the outputs of a night.
print_matches() { printf '%s\0' "$@"; }
print_files() { with_matches "$1" print_matches || :; }
print_patterns() {
  number=0
  while [ "$number" -lt "$pattern_count" ]; do
    eval "print_files \"\$pattern_$number\""
    # What downloads are called while they are not whole; and where `hf download --local-dir` keeps them.
    if [ "$watching" = 1 ]; then
      eval "unfinished=\$pattern_$number"
      for ending in incomplete part partial tmp download crdownload; do print_files "$unfinished.$ending"; done
      case $unfinished in
        */*) print_files "${unfinished%/*}/.cache/huggingface/download/*.incomplete" ;;
        *) print_files ".cache/huggingface/download/*.incomplete" ;;
      esac
    fi
    number=$((number + 1))
  done
}
print_outputs() {
  number=0
  while [ "$number" -lt "$output_count" ]; do
    eval "print_files \"\$output_$number\""
    number=$((number + 1))
  done
}
# Lines "DEVICE:INODE SIZE SECONDS PATH" of the regular files at and below the paths in standard input, each once: links
# lead to files that are there under their own names, too. Links to folders are followed only where they were named. What
# was moved aside before a restart is nobody's output, and what is not whole is none yet. -type and -exec of find, since
# busybox's has no -printf.
stats() {
  hidden=.cache/huggingface/download unfinished='*.incomplete'
  [ "$watching" != 1 ] || hidden=/ unfinished=
  $nice xargs -0 sh -c 'hidden=$1 unfinished=$2
shift 2
[ "$#" -eq 0 ] || find -H "$@" \( -name "*.before-[0-9]*" -o -path "*/$hidden" \) -prune -o \
  ! -name "$unfinished" \( -type f -o -type l \) -exec stat -L -c "%f %d:%i %s %Y %n" {} +' \
    sh "$hidden" "$unfinished" 2>/dev/null |
    LC_ALL=C awk 'length($1) == 4 && $1 ~ /^8/ && $4 ~ /^[0-9]+$/ && !($2 in seen) { seen[$2] = 1; sub(/^[^ ]* /, ""); print }'
}
# Their number, the sum of their sizes, and the time of the newest. mawk's integers are short: a sum is printed as a float.
sum_up() {
  LC_ALL=C awk '{ files++; bytes += $2; if ($3 > newest) newest = $3 }
END { printf "%d %.0f %.0f\n", files, bytes, newest }'
}
# Lines of all outputs. While the stage writes, what was counted before is remembered as "DEVICE:INODE BYTES LINES", and
# only what was added is read. In the end all is read, and a last line without its line feed counts as well.
count_lines() {
  # A name with a line feed would be two lines of the list.
  odd=$(print_outputs | $nice xargs -0 sh -c '[ "$#" -eq 0 ] || find -H "$@" -name "*.before-[0-9]*" -prune -o -type f -path "*
*" -exec grep -c "" {} +' sh 2>/dev/null | LC_ALL=C awk -F : '$NF ~ /^[0-9]+$/ { lines += $NF } END { printf "%.0f", lines }')
  listed=$(print_outputs | stats)
  listed=$(printf '%s\n' "$listed" | grep '^[0-9]*:[0-9]* [0-9]* [0-9]* /')
  if [ "$watching" != 1 ] || [ -z "$folder" ]; then
    lines=$(printf '%s\n' "$listed" | sed 's/^[^ ]* [^ ]* [^ ]* //' | tr '\n' '\000' |
      $nice xargs -0 grep -c '' /dev/null 2>/dev/null | LC_ALL=C awk -F : '{ lines += $NF } END { printf "%.0f", lines }')
    count=$((lines + odd))
    return
  fi
  counted=$folder/lines
  [ -f "$counted" ] || : >"$counted"
  changes=$(printf '%s\n' "$listed" | LC_ALL=C awk -v known="$counted" '
BEGIN { while ((getline line < known) > 0) { split(line, part, " "); size[part[1]] = part[2]; lines[part[1]] = part[3] } }
NF > 3 {
  id = $1; bytes = $2; sub(/^[^ ]* [^ ]* [^ ]* /, "")
  if (!(id in size) || size[id] > bytes) print "new", id, $0
  else if (size[id] < bytes) print "more", id, size[id], lines[id], $0
  else print "same", id, size[id], lines[id]
}')
  {
    printf '%s\n' "$changes" | sed -n 's/^same //p'
    printf '%s\n' "$changes" | sed -n 's/^more //p' | while IFS= read -r change; do
      # Not by `read id bytes …`, which takes the blanks from the end of a name.
      path=/${change#* /}
      set -- ${change%% /*}
      id=$1 bytes=$2 lines=$3
      set -- $({ dd bs=1 skip="$bytes" count=0 2>/dev/null && wc -lc; } <"$path")
      [ "$#" -ne 2 ] || printf '%s %s %s\n' "$id" "$((bytes + $2))" "$((lines + $1))"
    done
    # wc says how much it read beside how many lines that were: what is added meanwhile is not lost.
    fresh=$(printf '%s\n' "$changes" | sed -n 's/^new //p')
    {
      printf '%s\n' "$fresh" | sed 's/^/new /'
      printf '%s\n' "$fresh" | sed 's/^[^ ]* //' | tr '\n' '\000' | $nice xargs -0 sh -c '[ -z "$1" ] || wc -lc "$@"' sh 2>/dev/null
    } | LC_ALL=C awk '
$1 == "new" { id = $2; sub(/^new [^ ]* /, ""); ids[$0] = id; next }
$3 ~ /^\// { lines = $1; bytes = $2; sub(/^ *[0-9]+ +[0-9]+ /, ""); if ($0 in ids) printf "%s %.0f %.0f\n", ids[$0], bytes, lines }'
  } 2>/dev/null >"$folder/.lines"
  lines=$(LC_ALL=C awk '{ lines += $3 } END { printf "%.0f", lines }' "$folder/.lines")
  mv -- "$folder/.lines" "$counted" 2>/dev/null
  count=$((lines + odd))
}
look_at_outputs() {
  sums=$(print_outputs | stats | sum_up)
  set -- $sums
  case $count_kind in
    lines) count_lines ;;
    files) count=$1 ;;
    *) count=$2 ;;
  esac
  printf '@ outputs %s %s\n' "$count" "$sums"
  [ -z "$at_least" ] || [ "$count" -ge "$at_least" ] || fault "count $count $at_least"
}
# What was moved aside is not there, though a pattern may match its new name.
some_are_there() {
  for match; do
    case ${match##*/} in *.before-[0-9]*) continue ;; esac
    [ ! -e "$match" ] || return 0
  done
  return 1
}
look_at_files() {
  number=0
  while [ "$number" -lt "$pattern_count" ]; do
    eval "asked=\$pattern_$number"
    number=$((number + 1))
    with_matches "$asked" some_are_there || fault "none $asked"
  done
  sums=$({
    print_patterns
    [ -z "$snapshot" ] || print_snapshot
  } | stats | sum_up)
  printf '@ files %s\n' "$sums"
  [ -z "$min_bytes" ] || look_at_size $sums
}
look_at_size() {
  # Whose size it is: that of the files where there are any.
  bytes=$2
  [ "$pattern_count" -eq 0 ] || [ -z "$snapshot" ] || bytes=$(print_patterns | stats | sum_up | cut -d ' ' -f 2)
  [ "$bytes" -ge "$min_bytes" ] || fault "size $bytes $min_bytes"
}
look_at_log() {
  [ -f "$log_path" ] && [ -r "$log_path" ] || {
    fault "log $log_path"
    return
  }
  # A log that was cut or replaced since holds nothing else.
  set -- $log_start
  begin=$3
  [ "$(stat -L -c '%d %i' -- "$log_path" 2>/dev/null)" = "$1 $2" ] || begin=0
  [ "$(stat -L -c %s -- "$log_path" 2>/dev/null)" -ge "$begin" ] || begin=0
  # grep stops reading at the first line that fits, and its status is the pipe's.
  { dd bs=1 skip="$begin" count=0 && $nice cat; } 2>/dev/null <"$log_path" | tr '\r' '\n' | grep -Eq -e "$log_line" 2>/dev/null
  case $? in
    0) ;;
    1) fault line ;;
    *) fault pattern ;;
  esac
}
look_at_command() {
  { cd -- "$cwd" || cd /; } 2>/dev/null
  case $command_shell in
    auto) if command -v bash >/dev/null 2>&1; then command_shell=bash; else command_shell="sh"; fi ;;
  esac
  limit=
  ! command -v timeout >/dev/null 2>&1 || limit="timeout -s KILL $command_limit"
  options=
  [ "$command_shell" != bash ] || options='-o pipefail'
  # To a file: what it leaves running may keep its output open.
  said=$(mktemp) || said=/dev/null
  now
  command_began=$now
  (
    [ -z "$env_file" ] || ! read_env_file "$env_file" || eval "$file_exports"
    eval "$command_env"
    exec $limit "$command_shell" $options -c "$command_text" "$command_shell"
  ) </dev/null >"$said" 2>&1
  code=$?
  now
  if [ "$code" -ne 0 ]; then
    [ "$code" -ne 137 ] || [ "$((now - command_began))" -lt "${command_limit}000" ] || code=late
    fault "command $code"
    [ "$said" = /dev/null ] || tail -c 2000 -- "$said" | tr -d '\000' | sed 's/^/: /'
    printf '\n'
  fi
  [ "$said" = /dev/null ] || rm -f -- "$said"
}
# Only asked where something is missing: whether it may be in a folder that we cannot look into.
look_for_denied() {
  denied=$({
    print_patterns
    print_outputs
    [ -z "$snapshot" ] || printf '%s\0' "$snapshot"
  } | LC_ALL=C $nice xargs -0 sh -c '[ "$#" -eq 0 ] || find -H "$@" -type d 2>&1 >/dev/null' sh |
    sed -n 's/^find: //; s/: Permission denied$//p' | head -n 1)
  [ -z "$denied" ] || fault "denied $denied"
}

evaluate() {
  now
  began=$now
  [ -z "$snapshot" ] || look_at_snapshot
  [ "$pattern_count" -eq 0 ] && [ -z "$snapshot" ] || look_at_files
  [ "$output_count" -eq 0 ] || look_at_outputs
  if [ "$watching" != 1 ]; then
    [ -z "$log_line" ] || look_at_log
    [ -z "$command_text" ] || look_at_command
    [ -z "$missing" ] || look_for_denied
  fi
  now
  printf '@ took %s\n' "$((now - began))"
}
