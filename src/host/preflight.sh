# shellcheck shell=sh disable=SC2015,SC2030,SC2031,SC2034,SC2154
# What a launch would meet. In: root uid cwd shell path_prefix environment env_file job_text port (or ""), log_count and
# log_N, pattern_count and pattern_N. Looks only. Any look that could hang is given a few seconds.
tell() { printf '@ %s\n' "$1"; }
start=$HOME
expand "${cwd:-$HOME}"
cwd=$expanded
if [ ! -d "$cwd" ]; then
  tell "cwd missing $cwd"
elif ! cd -- "$cwd" 2>/dev/null; then
  tell "cwd closed $cwd"
else
  cwd=$(pwd)
  start=$cwd
  tell "cwd ok $cwd"
fi
state_writable() {
  folder=$root
  while [ ! -e "$folder" ] && [ "$folder" != "${folder%/*}" ]; do folder=${folder%/*}; done
  [ -d "${folder:-/}" ] && [ -w "${folder:-/}" ]
}
state_writable && tell 'state ok' || tell 'state closed'
look_at_log() {
  expand "$log"
  case $expanded in
    '')
      log_folder=$root
      tell 'log own '
      return
      ;;
    /*) log=$expanded ;;
    *) log=${cwd%/}/$expanded ;;
  esac
  log_folder=${log%/*}
  log_folder=${log_folder:-/}
  if [ ! -d "$log_folder" ]; then
    tell "log no-folder $log"
  elif [ -e "$log" ] && [ ! -f "$log" ]; then
    tell "log no-file $log"
  elif [ -e "$log" ] && [ -w "$log" ] || { [ ! -e "$log" ] && [ -w "$log_folder" ]; }; then
    tell "log ok $log"
  else
    tell "log closed $log"
  fi
}
number=0
while [ "$number" -lt "$log_count" ]; do
  eval "log=\$log_$number"
  number=$((number + 1))
  look_at_log
done

case $shell in
  auto) command -v bash >/dev/null 2>&1 && shell=bash || shell="sh" ;;
  bash) command -v bash >/dev/null 2>&1 || shell=no-bash ;;
esac
tell "shell $shell"

file_exports=
if [ -n "$env_file" ]; then
  if read_env_file "$env_file"; then
    tell 'env-file '
    for name in $file_names; do tell "name $name"; done
  else
    tell "env-refused $file_problem"
  fi
fi
# A process that setup leaves behind must not keep the answer open: it goes to a file, and everything else nowhere.
look_for_program() {
  [ "$shell" != no-bash ] && answers=$(umask 077 && mktemp -d) || return
  (
    cd -- "$start" 2>/dev/null || cd /
    # Placed before values come that may change how this shell splits or finds words.
    set -- "$shell" -c "$job_text" "$shell" "$shell"

    ! command -v timeout >/dev/null 2>&1 || set -- timeout 30 "$@"
    [ "$with_setup" = 1 ] || file_exports=
    eval "$file_exports$line_feed$environment"
    exec "$@"
  ) </dev/null 3>"$answers/told" >/dev/null 2>&1
  code=$?
  cat -- "$answers/told" 2>/dev/null
  [ "$code" -ne 124 ] || tell 'timeout '
  rm -rf -- "$answers"
}
look_for_program

# "FREE-BLOCKS SIZE FREE-INODES INODES ID" of the file system. A folder that is not there yet will be in its parent.
look_at_space() {
  folder=$2
  while [ ! -d "${folder:-/}" ]; do folder=${folder%/*}; done
  folder=${folder:-/}
  said=$(bounded 5 stat -f -c '%a %S %d %c %i' -- "$folder" 2>/dev/null) && [ -n "$said" ] || return 0
  tell "space $1 $said $folder"
}
look_at_space log "$log_folder"
number=0
while [ "$number" -lt "$pattern_count" ]; do
  eval "expand \"\$pattern_$number\""
  number=$((number + 1))
  case $expanded in
    /*) ;;
    *) expanded=${cwd%/}/$expanded ;;
  esac
  # What comes before the first star.
  expanded=${expanded%%[*?[]*}
  look_at_space outputs "${expanded%/}"
done
# Lines "FILE-SYSTEM BLOCKS QUOTA LIMIT GRACE FILES QUOTA LIMIT GRACE", in KiB; a star marks what is over its quota.
if command -v quota >/dev/null 2>&1; then
  bounded 5 quota -w 2>/dev/null </dev/null | awk '
    $2 ~ /^[0-9]+\*?$/ && $3 ~ /^[0-9]+$/ {
      gsub(/\*/, "")
      # The grace stands there only where something is over its quota.
      at = ($5 ~ /^[0-9]+$/) ? 5 : 6
      print "@ quota", $2, ($4 > 0 ? $4 : $3), $at, ($(at + 2) > 0 ? $(at + 2) : $(at + 1)), $1
    }'
fi

if command -v nvidia-smi >/dev/null 2>&1; then
  bounded 10 nvidia-smi --query-gpu=index,uuid,memory.used,memory.total --format=csv,noheader,nounits 2>/dev/null </dev/null |
    tr -d ',' | while read -r index uuid used total rest; do tell "gpu $index $uuid $used $total"; done
  gpu_apps | while read -r pid uuid mib; do
    user=- name=
    # Numbers of another pid namespace name nobody here.
    if owner_of "$pid"; then
      user=$(stat -c %U "/proc/$pid" 2>/dev/null)
      name_of "$pid"
    fi
    tell "holder $pid $uuid $mib ${user:--} $name"
  done
fi

# The inode of a socket that listens on the port: state 0A, the local port in hexadecimal.
if [ -n "$port" ]; then
  hex=$(printf '%04X' "$port")
  socket=$(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v port="$hex" '$4 == "0A" { n = split($2, place, ":"); if (place[n] == port) { print $10; exit } }')
  if [ -z "$socket" ]; then
    tell 'port free'
  else
    by=
    for fd in $(bounded 5 find /proc/[0-9]*/fd -lname "socket:\[$socket\]" 2>/dev/null | head -n 1); do
      pid=${fd#/proc/}
      pid=${pid%%/*}
      name_of "$pid"
      by="$name (pid $pid)"
    done
    tell "port taken $by"
  fi
fi
finish
