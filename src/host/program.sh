# shellcheck shell=sh disable=SC2015,SC2034,SC2088,SC2154
# Which file a program's name means, after setup.sh. `command -v` would also name functions, aliases and builtins, which
# the command's own shell does not share.
# $1 the word as the command has it; into ml_session_found, "" if there is none.
ml_session_find() {
  case $1 in
    '') ml_session_found= ;;
    '~/'*) ml_session_found=$HOME/${1#??} ;;
    /*) ml_session_found=$1 ;;
    ./*) ml_session_found=${PWD%/}/${1#./} ;;
    */*) ml_session_found=${PWD%/}/$1 ;;
    *)
      ml_session_rest=$PATH:
      while [ -n "$ml_session_rest" ]; do
        ml_session_found=${ml_session_rest%%:*}
        ml_session_rest=${ml_session_rest#*:}
        ml_session_found=${ml_session_found:-$PWD}
        ml_session_found=${ml_session_found%/}/$1
        [ ! -f "$ml_session_found" ] || [ ! -x "$ml_session_found" ] || return 0
      done
      ml_session_found=
      ;;
  esac
  [ -f "$ml_session_found" ] && [ -x "$ml_session_found" ] && return 0
  ml_session_found=
  return 1
}
# $1 a virtual environment or "", $2 the word: as a program that adds that environment's bin to PATH finds it.
ml_session_find_in() {
  case $2 in
    */*) ;;
    *)
      [ -z "$1" ] || [ ! -f "$1/bin/$2" ] || [ ! -x "$1/bin/$2" ] || {
        ml_session_found=$1/bin/$2
        return 0
      }
      ;;
  esac
  ml_session_find "$2"
}
# The environment that `uv run` takes: the project's, else the nearest .venv, else the active one.
ml_session_uv() {
  ml_session_up=$PWD
  while :; do
    if [ -n "$UV_PROJECT_ENVIRONMENT" ] && [ -f "$ml_session_up/pyproject.toml" ]; then
      case $UV_PROJECT_ENVIRONMENT in
        /*) ml_session_place=$UV_PROJECT_ENVIRONMENT ;;
        *) ml_session_place=${ml_session_up%/}/$UV_PROJECT_ENVIRONMENT ;;
      esac
      return
    fi
    ml_session_place=${ml_session_up%/}/.venv
    [ ! -d "$ml_session_place/bin" ] || return 0
    [ -n "$ml_session_up" ] && [ "$ml_session_up" != / ] || break
    ml_session_up=${ml_session_up%/*}
  done
  ml_session_place=$VIRTUAL_ENV
}
# The folder of the conda environment named $2, for the program $1 (conda, mamba or micromamba); "" if it is not found.
ml_session_conda_place() {
  ml_session_place=
  ml_session_base=$MAMBA_ROOT_PREFIX
  [ "$1" != conda ] || ml_session_base=
  if [ -z "$ml_session_base" ] && ml_session_conda_program "$1"; then ml_session_base=${ml_session_program%/*/*}; fi
  if [ "$2" = base ]; then
    ml_session_place=$ml_session_base
    return
  fi
  ml_session_rest=$CONDA_ENVS_PATH:$CONDA_ENVS_DIRS:${ml_session_base:+$ml_session_base/envs}:$HOME/.conda/envs:$HOME/micromamba/envs:
  while [ -n "$ml_session_rest" ]; do
    ml_session_place=${ml_session_rest%%:*}/$2
    ml_session_rest=${ml_session_rest#*:}
    [ ! -d "$ml_session_place/bin" ] || return 0
  done
  ml_session_place=
}
# $1 the word, $2 how it is reached: "" by PATH, `uv`, `conda NAME`, `mamba NAME`, `micromamba NAME` or `prefix FOLDER`.
ml_session_resolve() {
  ml_session_place=
  case $2 in
    uv) ml_session_uv ;;
    'prefix ~/'*) ml_session_place=$HOME/${2#'prefix ~/'} ;;
    'prefix '*) ml_session_place=${2#prefix } ;;
    conda\ * | mamba\ * | micromamba\ *) ml_session_conda_place "${2%% *}" "${2#* }" ;;
  esac
  ml_session_find_in "$ml_session_place" "$1"
}
