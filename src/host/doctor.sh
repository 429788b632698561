# shellcheck shell=sh disable=SC2015,SC2016,SC2088,SC2034,SC2154
# Where shells of this host look for a program, after shellPaths.sh. In: name, folder_count and folder_N: where it was found.
# Looks only; start-up files are run as every login runs them, with 5 s for each shell.
# $1 which shell, $2 its PATH.
tell_path() {
  printf '@ path %s %s\n' "$1" "$2"
  rest=$2:
  while [ -n "$rest" ]; do
    folder=${rest%%:*}
    rest=${rest#*:}
    case $folder in /*) ;; *) continue ;; esac
    [ -f "${folder%/}/$name" ] && [ -x "${folder%/}/$name" ] || continue
    printf '@ found %s %s\n' "$1" "${folder%/}/$name"
    return
  done
}
# $1 which shell; $shell_path and $shell_late are what it answered.
tell_shell() {
  if [ -n "$shell_path" ]; then
    tell_path "$1" "$shell_path"
  elif [ -n "$shell_late" ]; then
    printf '@ late %s\n' "$1"
  fi
}
printf '@ shell %s\n' "$login_shell"
tell_path ssh "$PATH"
for kind in login interactive; do
  ask_shell "$kind"
  tell_shell "$kind"
done
if command -v systemctl >/dev/null 2>&1; then
  shell_path=$(at_most 5 systemctl --user show-environment </dev/null 2>/dev/null | path_of) shell_late=
  tell_shell systemd
fi

# Lines of start-up files that name a folder, as it is or by the home folder's other names.
look_in_files() {
  [ -n "$1" ] && [ "$1" != / ] || return
  set -- "$1" "$1" "$1"
  case $1 in "$HOME"/*) set -- "$1" "\$HOME/${1#"$HOME"/}" "~/${1#"$HOME"/}" ;; esac
  for startup in "$HOME/.profile" "$HOME/.bash_profile" "$HOME/.bash_login" "$HOME/.bashrc" "$HOME/.bash_aliases" \
    "$HOME/.zshenv" "$HOME/.zprofile" "$HOME/.zshrc" "$HOME/.zlogin" "$HOME/.config/fish/config.fish" \
    "$HOME"/.config/fish/conf.d/*.fish "$HOME/.cshrc" "$HOME/.tcshrc" "$HOME/.login" "$HOME/.pam_environment" \
    "$HOME"/.config/environment.d/*.conf /etc/environment /etc/profile /etc/profile.d/*.sh /etc/bash.bashrc /etc/bashrc \
    /etc/zsh/* /etc/fish/config.fish; do
    [ -f "$startup" ] && [ -r "$startup" ] || continue
    # `${HOME}` is `$HOME` too, and a comment adds nothing.
    line=$(LC_ALL=C sed 's/\${HOME}/$HOME/g; s/^[ 	]*#.*//' <"$startup" | LC_ALL=C grep -nF -e "$1" -e "$2" -e "$3" | head -n 1)
    [ -z "$line" ] || printf '@ startup %s %s %s\n' "$number" "${line%%:*}" "$startup"
  done
}
number=0
while [ "$number" -lt "$folder_count" ]; do
  eval "folder=\$folder_$number"
  look_in_files "$folder"
  # What an environment calls its own activation.
  [ ! -f "$folder/activate" ] || printf '@ activate %s\n' "$number"
  number=$((number + 1))
done
finish
