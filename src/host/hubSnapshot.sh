# shellcheck shell=sh disable=SC2012,SC2016,SC2086,SC2154
# What of a snapshot of the Hugging Face hub is missing: part of outputs.sh. In: snapshot; fault and stats of outputs.sh.
# Faults: folder PATH, index NAME, shard HOW NUMBER OF NAME, shards MORE, incomplete NUMBER BYTES NAME, dangling NAME,
# weights, nothing.

# Sets content, the folder that has the files; blobs, where the hub's cache keeps their bytes; and cache_kind.
find_content() {
  expand "$snapshot"
  case $expanded in
    /*) snapshot=$expanded ;;
    *) snapshot=${cwd%/}/$expanded ;;
  esac
  while [ "$snapshot" != "${snapshot%/}" ] && [ "$snapshot" != / ]; do snapshot=${snapshot%/}; done
  content=$snapshot blobs='' cache_kind=
  case $snapshot in *models--*) cache_kind=model ;; *datasets--*) cache_kind=dataset ;; esac
  case $snapshot in */snapshots/*) [ ! -d "${snapshot%/snapshots/*}/blobs" ] || blobs=${snapshot%/snapshots/*}/blobs ;; esac
  if [ -d "$snapshot/snapshots" ] || { [ -d "$snapshot/blobs" ] && [ -n "$cache_kind" ]; }; then
    blobs=$snapshot/blobs revision=
    ! first_line "$snapshot/refs/main" || revision=$line
    case $revision in *[!0-9A-Za-z._-]* | . | .. | '') revision=none ;; esac
    # A revision that was asked for by its own name has no ref: then the newest.
    [ -d "$snapshot/snapshots/$revision" ] || revision=$(cd -- "$snapshot/snapshots" 2>/dev/null && ls -t | head -n 1)
    content=$snapshot/snapshots/${revision:-none}
  fi
}
print_snapshot() {
  [ ! -d "$content" ] || printf '%s\0' "$content"
  [ "$watching" != 1 ] || [ -z "$blobs" ] || with_matches "$blobs/*.incomplete" print_matches || :
}
# "total BYTES" and "shard NAME" for each shard of an index. Text between quotes is a string, so that a quote separates
# what awk reads; escaped ones are in no name of a shard.
read_index() {
  LC_ALL=C awk 'BEGIN { RS = "\"" }
NR % 2 == 0 {
  if (text ~ /:[ \t\r\n]*$/) {
    gsub(/\\\//, "/")
    if (inside && depth == inside && !($0 in seen)) { seen[$0] = 1; print "shard " $0 }
    name = ""
  } else name = $0
  next
}
{
  text = $0
  if (name == "total_size" && match(text, /^[ \t\r\n]*:[ \t\r\n]*[0-9]+/)) {
    number = substr(text, RSTART, RLENGTH); sub(/^[^0-9]*/, "", number); print "total " number
  }
  if (text !~ /[{}]/) next
  copy = text
  depth += gsub(/[{]/, "", copy)
  if (name == "weight_map" && text ~ /^[ \t\r\n]*:[ \t\r\n]*[{]/) { inside = depth; print "map" }
  depth -= gsub(/[}]/, "", copy)
  if (depth < inside) inside = 0
}' "$1"
}
# Whether all shards of an index are there. With `tell` what is missing is said, five times at most.
shards_are_there() {
  shard_folder=${1%/*}
  shards=$(read_index "$1" 2>/dev/null)
  case "
$shards
" in
    *'
map
'*) ;;
    *)
      [ -z "$2" ] || fault "index ${1#"$content/"}"
      return 1
      ;;
  esac
  names=$(printf '%s\n' "$shards" | sed -n 's/^shard //p' | LC_ALL=C sort)
  of=$(printf '%s\n' "$names" | wc -l)
  of=$((of)) at=0 bad=0
  while IFS= read -r name; do
    at=$((at + 1))
    [ ! -s "$shard_folder/$name" ] || [ -z "$name" ] || continue
    bad=$((bad + 1))
    how=missing
    [ ! -L "$shard_folder/$name" ] || how=dangling
    [ ! -e "$shard_folder/$name" ] || how=empty
    [ -z "$2" ] || [ "$bad" -gt 5 ] || fault "shard $how $at $of $name"
  done <<END
$names
END
  [ -z "$2" ] || [ "$bad" -le 5 ] || fault "shards $((bad - 5))"
  [ "$bad" -eq 0 ]
}
# Names of the content's files, a line each; what a download keeps for itself is left out.
content_files() {
  find -H "$content" \( -path '*/.cache/huggingface' -o -name '*.before-[0-9]*' \) -prune -o \( -type f -o -type l \) "$@" 2>/dev/null
}
# A repository may have its weights in two forms, each with an index, of which one was fetched: one whole index of each
# folder will do. What is missing is said of the first.
look_at_indexes() {
  total=0 whole='' last=''
  indexes=$(content_files \( -name '*.safetensors.index*.json' -o -name '*.bin.index*.json' \) -print | LC_ALL=C sort -r)
  [ -n "$indexes" ] || return 1
  while IFS= read -r index; do
    [ "${index%/*}" != "$last" ] || [ -z "$whole" ] || continue
    [ "${index%/*}" = "$last" ] || {
      [ -z "$last" ] || [ -n "$whole" ] || shards_are_there "$first" tell
      last=${index%/*} whole='' first=$index
      bytes=$(read_index "$index" 2>/dev/null | sed -n 's/^total //p' | head -n 1)
      [ "${#bytes}" -gt 17 ] || total=$((total + ${bytes:-0}))
    }
    ! shards_are_there "$index" '' || whole=1
  done <<END
$indexes
END
  [ -n "$whole" ] || shards_are_there "$first" tell
  [ "$total" -eq 0 ] || printf '@ total %s\n' "$total"
}
any_full() {
  [ -n "$(content_files "$@" -exec sh -c 'for file; do [ ! -s "$file" ] || { echo 1; exit; }; done' sh {} + | head -n 1)" ]
}
look_for_weights() {
  any_full \( -name '*.safetensors' -o -name '*.bin' -o -name '*.gguf' -o -name '*.pt' -o -name '*.pth' -o -name '*.ckpt' \
    -o -name '*.onnx' -o -name '*.h5' -o -name '*.msgpack' -o -name '*.npz' \) && return
  for mark in config.json model_index.json adapter_config.json tokenizer_config.json; do
    [ "$cache_kind" = dataset ] || [ ! -e "$content/$mark" ] || cache_kind=model
  done
  if [ "$cache_kind" = model ]; then
    fault weights
  else
    # A data set may have files of any kind; these are about it.
    any_full ! -name 'README*' ! -name 'LICENSE*' ! -name '.git*' || fault nothing
  fi
}
look_for_unfinished() {
  unfinished=$({
    find -H "$content" -name '*.incomplete' -type f -exec stat -c '%s %n' {} +
    [ -z "$blobs" ] || find -H "$blobs" -name '*.incomplete' -type f -exec stat -c '%s %n' {} +
  } 2>/dev/null | grep '^[0-9]* /' | LC_ALL=C sort -rn)
  [ -n "$unfinished" ] || return 0
  largest=$(printf '%s\n' "$unfinished" | head -n 1)
  fault "incomplete $(($(printf '%s\n' "$unfinished" | wc -l))) ${largest%% *} ${largest##*/}"
}
look_for_dangling() {
  dangling=$(content_files -type l -exec sh -c 'for file; do [ -e "$file" ] || printf "%s\n" "$file"; done' sh {} + | head -n 5)
  while IFS= read -r name; do
    [ -z "$name" ] || fault "dangling ${name#"$content/"}"
  done <<END
$dangling
END
}
look_at_snapshot() {
  find_content
  [ -d "$content" ] || {
    fault "folder $snapshot"
    [ "$watching" = 1 ] || [ -z "$blobs" ] || look_for_unfinished
    return
  }
  look_at_indexes || [ -n "$indexes" ] || look_for_weights
  [ "$watching" = 1 ] || {
    look_for_unfinished
    look_for_dangling
  }
}
