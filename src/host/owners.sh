# shellcheck shell=sh disable=SC2034,SC2154
# Whose a process is, and who holds GPU memory.

# The real user of a process into $owner; false when there is none.
owner_of() {
  owner=
  { while read -r owner_key owner_value owner_rest; do
    [ "$owner_key" = Uid: ] || continue
    owner=$owner_value
    break
  done; } 2>/dev/null <"/proc/$1/status"
  [ -n "$owner" ]
}
# Its name into $name, without what could end a line.
name_of() {
  name=
  { IFS= read -r name || :; } 2>/dev/null <"/proc/$1/comm"
}
bounded() {
  limit=$1
  shift
  if command -v timeout >/dev/null 2>&1; then timeout "$limit" "$@"; else "$@"; fi
}
# Lines "PID UUID MIB" of what the driver calls compute processes; none where there is no driver. Numbers of another pid
# namespace are not ours to read: who uses these lines looks at the process itself.
gpu_apps() {
  command -v nvidia-smi >/dev/null 2>&1 || return 0
  bounded 10 nvidia-smi --query-compute-apps=pid,gpu_uuid,used_memory --format=csv,noheader,nounits 2>/dev/null </dev/null |
    while IFS=', ' read -r app_pid app_uuid app_mib app_rest; do
      case $app_pid in *[!0-9]* | '') continue ;; esac
      case $app_mib in *[!0-9]* | '') app_mib=- ;; esac
      printf '%s %s %s\n' "$app_pid" "$app_uuid" "$app_mib"
    done
}
# Lines "INDEX UUID".
gpu_numbers() {
  command -v nvidia-smi >/dev/null 2>&1 || return 0
  bounded 10 nvidia-smi --query-gpu=index,uuid --format=csv,noheader 2>/dev/null </dev/null | tr -d ','
}
