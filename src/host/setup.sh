# shellcheck shell=sh disable=SC1090,SC2034,SC2317,SC3046,SC3051
# What lines of `setup` take for granted and only login or interactive shells have. Goes before whatever runs them. It
# shares a shell with them and with the job's environment, so its names begin with ml_session_.
ml_session_line_feed='
'
# $1 the text of a line of setup; $2 the shell that runs it, by name.
ml_session_prepare() {
  # A command begins a line, or follows && or a semicolon.
  case $ml_session_line_feed$1 in
    *"$ml_session_line_feed"module\ * | *'&& module '* | *'; module '* | *"$ml_session_line_feed"ml\ *) ml_session_modules ;;
  esac
  for ml_session_tool in conda mamba micromamba; do
    case $ml_session_line_feed$1 in
      *"$ml_session_line_feed$ml_session_tool activate"* | *"&& $ml_session_tool activate"* | *"; $ml_session_tool activate"*)
        ml_session_conda "$ml_session_tool" "$2"
        ;;
    esac
  done
}
# Where modules are a function of login shells, the file that defines it is read.
ml_session_modules() {
  for ml_session_file in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh \
    "$MODULESHOME/init/sh" "$LMOD_PKG/init/sh" /usr/share/modules/init/sh /usr/share/Modules/init/sh /usr/share/lmod/lmod/init/sh; do
    ! command -v module >/dev/null 2>&1 || return 0
    [ ! -r "$ml_session_file" ] || . "$ml_session_file"
  done
}
# The program of conda, mamba or micromamba ($1), on PATH or where installers put it.
ml_session_conda_program() {
  case $1 in
    conda) ml_session_program=$CONDA_EXE ;;
    *) ml_session_program=$MAMBA_EXE ;;
  esac
  case $ml_session_program in */"$1") [ ! -x "$ml_session_program" ] || return 0 ;; esac
  ml_session_program=$(command -v "$1" 2>/dev/null)
  case $ml_session_program in /*) return 0 ;; esac
  for ml_session_folder in "$HOME/miniconda3" "$HOME/miniforge3" "$HOME/anaconda3" "$HOME/mambaforge" "$HOME/conda" \
    "$HOME/micromamba" "$HOME/.local" /opt/conda /opt/miniconda3 /opt/miniforge3 /opt/anaconda3 /usr/local; do
    for ml_session_program in "$ml_session_folder/bin/$1" "$ml_session_folder/condabin/$1"; do
      [ ! -f "$ml_session_program" ] || [ ! -x "$ml_session_program" ] || return 0
    done
  done
  ml_session_program=
  return 1
}
# `activate` is a shell function that start-up files of interactive shells define; the program prints it.
ml_session_conda() {
  # A function has no path.
  case $(command -v "$1" 2>/dev/null) in "$1") return 0 ;; esac
  ml_session_conda_program "$1" || return 0
  case $2 in bash) ml_session_dialect=bash ;; *) ml_session_dialect=posix ;; esac
  if [ "$1" = conda ]; then
    ml_session_hook=$("$ml_session_program" "shell.$ml_session_dialect" hook 2>/dev/null)
  else
    ml_session_hook=$("$ml_session_program" shell hook --shell "$ml_session_dialect" 2>/dev/null)
  fi
  if [ -n "$ml_session_hook" ]; then
    eval "$ml_session_hook"
  elif [ "$1" = mamba ]; then
    # mamba before 2.0 has no hook of its own.
    ml_session_conda conda "$2"
    mamba() { conda "$@"; }
  fi
}
# dash does not know the word `source`; busybox, which does, cannot read a function of that name.
ml_session_source() {
  case $1 in
    */*) . "$1" ;;
    *) if [ -f "./$1" ]; then . "./$1"; else . "$1"; fi ;;
  esac
}
command -v source >/dev/null 2>&1 || eval 'source() { ml_session_source "$@"; }'
