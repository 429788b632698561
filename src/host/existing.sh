# shellcheck shell=sh disable=SC2013,SC2015,SC2154
# What a restart would meet. In: root host session stage member cwd, pattern_count, pattern_0 and so on, count_lines,
# checkpoints_in_cwd. Looks only, and at nothing for more than ten seconds.
expand "${cwd:-$HOME}"
cwd=$expanded
member_dir=$root/v1/$host/$session/$stage/$member
# More than this is not read only to count its lines.
most_bytes=4000000000

# The sum over files that were not moved aside, as "FILES BYTES TIME NAME". Links are followed: a model snapshot is a folder
# of links. mawk's integers are short, so sums are printed as floats.
sizes_of() {
  printf '%s\0' "$@" |
    bounded 10 xargs -0 sh -c 'find -L "$@" -name "*.before-[0-9]*" -prune -o -type f -exec stat -L -c "%s %Y %n" {} + 2>/dev/null' sh |
    awk '/^[0-9]+ [0-9]+ \// {
      files++; bytes += $1
      if ($2 > time) { time = $2; name = $0; sub(/^[0-9]+ [0-9]+ /, "", name) }
    } END { printf "%.0f %.0f %.0f %s\n", files, bytes, time, name }'
}
# "0 LINES", or another status where it took too long.
lines_of() {
  {
    {
      printf '%s\0' "$@" |
        bounded 10 xargs -0 sh -c 'find -L "$@" -name "*.before-[0-9]*" -prune -o -type f -exec cat {} + 2>/dev/null' sh
      printf '%s ' "$?" >&3
    } | wc -l
  } 3>&1
}
measure() {
  sizes=$(sizes_of "$@")
  bytes=${sizes#* }
  bytes=${bytes%% *}
  lines=-
  if [ "$count_lines" = 1 ] && [ "$bytes" -le "$most_bytes" ]; then
    counted=$(lines_of "$@" | tr -s ' \n' ' ')
    case $counted in '0 '*) lines=${counted#0 } lines=${lines%% *} ;; esac
  fi
  printf '@ output %s %s %s\n' "$number" "${lines:--}" "$sizes"
}
for_each_pattern measure

# When the first run of the member began, in seconds: what is older is nothing of its own.
first_began=
for run_dir in "$member_dir"/*/; do
  first_line "${run_dir}started" || continue
  case $line in *[!0-9]*) continue ;; esac
  seconds=${line%???}
  [ -n "$first_began" ] && [ "$first_began" -le "$seconds" ] || first_began=$seconds
done
# Folders and files that look like checkpoints, "TIME NAME", not below each other.
checkpoints_in() {
  [ -d "$1" ] || return 0
  bounded 5 find "$1/." -maxdepth 4 \( -name '.?*' -o -name '*.before-[0-9]*' -o -name node_modules \) -prune -o \
    \( -type d \( -name 'checkpoint-*' -o -name 'global_step*' -o -name 'step_*' -o -name 'epoch*' \) -o \
    -name '*.ckpt' -o -name '*.pt' -o -name latest \) -prune -exec stat -c '%Y %n' {} + 2>/dev/null
}
folders_of() {
  for match; do
    if [ -d "$match" ]; then checkpoints_in "$match"; else checkpoints_in "${match%/*}"; fi
    # A glob of ten thousand files is one folder, mostly.
    looked=$((looked + 1))
    [ "$looked" -lt 20 ] || return 0
  done
}
candidates() {
  looked=0
  for_each_pattern folders_of
  if [ "$checkpoints_in_cwd" = 1 ] && [ -n "$first_began" ]; then
    checkpoints_in "$cwd" | awk -v since="$first_began" '$1 >= since'
  fi
}
# A file that only names the newest one says less than that one; outputs that are tensors are no checkpoints.
eval "patterns=\"\${pattern_0:-} \${pattern_1:-} \${pattern_2:-}\""
case "$patterns " in *'.pt '*) tensors=1 ;; *) tensors=0 ;; esac
candidates | awk -v tensors="$tensors" '
  /^[0-9]+ \// {
    if (tensors && /\.pt$/) next
    time = $1; name = $0; sub(/^[0-9]+ /, "", name); sub(/\/\.\//, "/", name)
    if (name ~ /\/latest$/) { if (time > pointed) { pointed = time; pointer = name } }
    else if (time > newest) { newest = time; found = name }
  }
  END {
    if (newest) printf "@ checkpoint %.0f %s\n", newest, found
    else if (pointed) printf "@ checkpoint %.0f %s\n", pointed, pointer
  }'

# The mark in the environment of a process into $marker.
marker_of() {
  marker=$(LC_ALL=C tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | sed -n 's/^ML_SESSION_RUN=//p' | head -n 1)
  case $marker in *[!A-Za-z0-9._-]* | . | .. | '') marker=- ;; esac
}
for environ in $(LC_ALL=C grep -lsF ML_SESSION_RUN= /proc/[0-9]*/environ 2>/dev/null); do
  pid=${environ#/proc/}
  pid=${pid%/environ}
  stat_of "$pid" && [ "$state" != Z ] && [ "$state" != X ] && owner_of "$pid" && [ "$owner" = "$uid" ] || continue
  marker_of "$pid"
  [ "$marker" != - ] && [ -d "$member_dir/$marker" ] || continue
  live=0
  ended "$member_dir/$marker" || ! run_alive "$member_dir/$marker" || live=1
  name_of "$pid"
  printf '@ process %s %s %s %s\n' "$pid" "$marker" "$live" "$name"
done
gpu_numbers | while read -r index uuid; do printf '@ gpu %s %s\n' "$index" "$uuid"; done
gpu_apps | while read -r pid uuid mib; do
  stat_of "$pid" && owner_of "$pid" || continue
  marker_of "$pid"
  name_of "$pid"
  user=$(stat -c %U "/proc/$pid" 2>/dev/null)
  printf '@ holder %s %s %s %s %s %s %s\n' "$pid" "$uuid" "$mib" "$owner" "${user:-$owner}" "$marker" "$name"
done
now
printf '@ now %s\n' "$now"
finish
