# shellcheck shell=sh disable=SC2015,SC2154
# Keeps what the patterns match from a run that begins anew: renames or copies it (how: move, copy) in its own folder, over
# nothing. In: root host boot session stage member cwd, pattern_count, pattern_0 and so on, stamp, how.
refuse() {
  printf '@ refused %s\n' "$1"
  finish
}
expand "${cwd:-$HOME}"
cwd=$expanded
for run_dir in "$root/v1/$host/$session/$stage/$member"/*/; do
  run_dir=${run_dir%/}
  [ -d "$run_dir" ] && ! ended "$run_dir" && run_alive "$run_dir" || continue
  refuse "A run of this stage is alive (${run_dir##*/}), so its outputs are left as they are."
done
# One line, whatever is in a name.
tell() { printf '@ %s %s\n' "$1" "$(printf %s "$2" | tr '\n' '?')"; }
rename_to() {
  said=$(mv -n -T -- "$1" "$2" 2>&1) || refuse "$1 cannot be renamed: $said"
  exists "$2" && ! exists "$1" || refuse "$1 was not renamed."
}
# A copy has its name only when it is whole.
copy_to() {
  part=$folder/.$base.copying-$stamp
  ! exists "$part" || refuse "$part is there already, so $1 is not copied."
  said=$(cp -pRH -- "$1" "$part" 2>&1) || {
    rm -rf -- "$part"
    refuse "$1 cannot be copied: $said"
  }
  rename_to "$part" "$2"
}
set_aside() {
  for match; do
    [ "$match" != / ] || refuse "The root folder is no output."
    folder=${match%/*} base=${match##*/}
    case $base in *.before-[0-9]*) continue ;; esac
    # Gone with a folder that another pattern matched, or kept with it.
    exists "$match" || continue
    target=$folder/$base.before-$stamp
    # What the pattern would match again would be counted again.
    # shellcheck disable=SC2254
    case $target in $pattern) target=$folder/.$base.before-$stamp ;; esac
    if exists "$target"; then
      case " $kept " in *" $target "*) continue ;; esac
      refuse "$target is there already, so $match is left as it is."
    fi
    # What another file system is mounted on cannot be renamed, and is not to be copied away.
    [ -L "$match" ] || [ "$(stat -c %d -- "$match")" = "$(stat -c %d -- "${folder:-/}")" ] ||
      refuse "$match is a file system of its own, so it is left as it is."
    if [ "$how" = copy ]; then copy_to "$match" "$target"; else rename_to "$match" "$target"; fi
    kept="$kept $target"
    tell from "$match"
    tell to "$target"
  done
}
kept=
for_each_pattern set_aside
finish
