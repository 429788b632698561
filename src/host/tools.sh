# shellcheck shell=sh disable=SC2015,SC2030,SC2031,SC2034,SC2154
# Looks for programs, after shellPaths.sh. In: name_count name_N cwd path_prefix setup_count setup_N environment shell, and the text of setup.sh.
limit() {
  seconds=$1
  shift
  if command -v timeout >/dev/null 2>&1; then timeout "$seconds" "$@"; else "$@"; fi
}
expand "${cwd:-$HOME}"
cwd=$expanded
{ cd -- "$cwd" || cd /; } 2>/dev/null
[ "$shell" != auto ] || { command -v bash >/dev/null 2>&1 && shell=bash || shell="sh"; }
setup=
number=0
while [ "$number" -lt "$setup_count" ]; do
  eval "setup=\"\$setup
\$setup_$number\""
  number=$((number + 1))
done
launch_path=$(
  {
    eval "$environment"
    [ -z "$path_prefix" ] || PATH=$path_prefix:$PATH
    export PATH
    limit 10 "$shell" -c "$setup_text
$setup
env" "$shell"
  } </dev/null 2>/dev/null | path_of
)
[ -n "$launch_path" ] || launch_path=${path_prefix:+$path_prefix:}$PATH
ask_shell login
login_path=$shell_path
ask_shell interactive
interactive_path=$shell_path
tries=$(mktemp -d) || tries=
found=0
seen=:
# $1 folder, $2 whether a launch looks there.
look_in() {
  case $1 in
    /*) ;;
    *) return ;;
  esac
  case $seen in *":$1:"*) return ;; esac
  seen=$seen$1:
  number=0
  while [ "$number" -lt "$name_count" ]; do
    eval "name=\$name_$number"
    number=$((number + 1))
    [ -f "$1/$name" ] && [ -x "$1/$name" ] && [ "$found" -lt 24 ] || continue
    found=$((found + 1))
    try "$found" "$name" "$1/$name" "$2"
  done
}
# All candidates are asked at the same time: some take seconds to start.
try() {
  [ -n "$tries" ] || return
  printf '%s\n%s\n%s\n' "$2" "$3" "$4" >"$tries/$1"
  (
    PATH=$launch_path limit 10 "$3" --help </dev/null >"$tries/$1.out" 2>&1
    printf '%s\n' "$?" >"$tries/$1.code"
  ) &
}
look_along() {
  rest=$1:
  while [ -n "$rest" ]; do
    look_in "${rest%%:*}" "$2"
    rest=${rest#*:}
  done
}
look_along "$launch_path" 1
look_along "$login_path" 0
look_along "$interactive_path" 0
[ -z "$VIRTUAL_ENV" ] || look_in "$VIRTUAL_ENV/bin" 0
[ -z "$CONDA_PREFIX" ] || look_in "$CONDA_PREFIX/bin" 0
for folder in "$cwd"/bin "$cwd"/*/bin "$cwd"/.[!.]*/bin "$HOME"/*/bin "$HOME"/.[!.]*/bin /opt/*/bin /root/*/bin /root/.[!.]*/bin \
  /venv/bin /venv/*/bin /usr/local/bin "$HOME"/.virtualenvs/*/bin "$HOME"/.venvs/*/bin "$HOME"/.local/bin \
  "$HOME"/miniconda3/envs/*/bin "$HOME"/anaconda3/envs/*/bin "$HOME"/mambaforge/envs/*/bin "$HOME"/miniforge3/envs/*/bin \
  /opt/conda/envs/*/bin "$HOME"/.conda/envs/*/bin "$HOME"/.local/share/uv/tools/*/bin "${UV_TOOL_DIR:-/nowhere}"/*/bin; do
  [ ! -d "$folder" ] || look_in "$folder" 0
done
wait
number=0
while [ "$number" -lt "$found" ] && [ -n "$tries" ]; do
  number=$((number + 1))
  { read -r name && IFS= read -r path && read -r on_path; } <"$tries/$number"
  code=124
  { read -r code || :; } 2>/dev/null <"$tries/$number.code"
  printf '@ tool %s %s %s %s\n' "$on_path" "$code" "$name" "$path"
  head -c 4000 "$tries/$number.out" | tr -d '\000' | sed 's/^/: /'
  printf '\n'
done
[ -z "$tries" ] || rm -rf -- "$tries"
finish
