#!/bin/sh
# The demo host's hf: knows `hf download REPO --local-dir FOLDER` and `--help`.
usage() {
  cat "$HOME/.demo/hf-usage.txt"
}

command=$1
folder=
while [ $# -gt 0 ]; do
  case $1 in
  --help | -h)
    usage
    exit 0
    ;;
  --local-dir)
    [ $# -lt 2 ] || shift
    folder=$1
    ;;
  --local-dir=*) folder=${1#*=} ;;
  esac
  shift
done
if [ "$command" != download ] || [ -z "$folder" ]; then
  usage >&2
  echo "Error: the demo plays only 'hf download REPO --local-dir FOLDER'." >&2
  exit 2
fi
mkdir -p "$folder" && cd "$folder" || exit 1
: >model.safetensors
sh "$HOME/.demo/play.sh" "$HOME/.demo/download.score" "$PWD" && printf '\n%s\n' "$PWD"
