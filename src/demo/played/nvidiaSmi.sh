#!/bin/sh
# Eight simulated H200: nvidia-smi --query-gpu=FIELDS --format=csv[,noheader][,nounits] [-l SECONDS | -lms MS]
# Without a query it lists the GPUs, as -L does.
owner=0
# shellcheck source=/dev/null
. "$HOME/.demo/settings"
fields=
header=1
units=1
every=0 # milliseconds
while [ $# -gt 0 ]; do
  case $1 in
  --query-gpu=*) fields=${1#*=} ;;
  --format=*)
    case ,${1#*=}, in *,noheader,*) header=0 ;; esac
    case ,${1#*=}, in *,nounits,*) units=0 ;; esac
    ;;
  -l=* | --loop=*) every=$((${1#*=} * 1000)) ;;
  -lms=* | --loop-ms=*) every=${1#*=} ;;
  -l | --loop | -lms | --loop-ms)
    factor=1
    case $1 in -l | --loop) factor=1000 ;; esac
    case ${2:-} in
    '' | *[!0-9]*) every=$((5 * 1000)) ;;
    *)
      every=$(($2 * factor))
      shift
      ;;
    esac
    ;;
  --query-*) exit 0 ;; # no compute processes to tell of
  esac
  shift
done

# Sets v to field $1 of GPU $gpu, and unit to what follows it.
value() {
  unit=
  case $1 in
  timestamp) v=$stamp ;;
  index) v=$gpu ;;
  count) v=8 ;;
  name | gpu_name) v='NVIDIA H200 (simulated)' ;;
  uuid | gpu_uuid) v=GPU-d3e00000-0000-4000-8000-00000000000$gpu ;;
  serial | gpu_serial) v=165000000000$gpu ;;
  pci.bus_id | gpu_bus_id) v=00000000:0$((gpu + 1)):00.0 ;;
  driver_version) v=580.159.04 ;;
  pstate) v=P0 ;;
  utilization.gpu) v=$util unit=' %' ;;
  utilization.memory) v=$((util / 4)) unit=' %' ;;
  memory.used) v=$used unit=' MiB' ;;
  memory.free) v=$((143771 - 616 - used)) unit=' MiB' ;;
  memory.total) v=143771 unit=' MiB' ;;
  memory.reserved) v=616 unit=' MiB' ;;
  temperature.gpu) v=$temperature ;;
  temperature.memory) v=$((temperature - 12)) ;;
  power.draw | power.draw.average | power.draw.instant) v=$power unit=' W' ;;
  power.limit | enforced.power.limit | power.max_limit | power.default_limit) v=700.00 unit=' W' ;;
  clocks.sm | clocks.current.sm | clocks.gr | clocks.current.graphics) v=1515 unit=' MHz' ;;
  clocks.mem | clocks.current.memory) v=3201 unit=' MHz' ;;
  compute_mode) v=Default ;;
  persistence_mode) v=Enabled ;;
  mig.mode.current | mig.mode.pending) v=Disabled ;;
  ecc.errors.*) v=0 ;;
  clocks_event_reasons.active | clocks_throttle_reasons.active) v=0x0000000000000004 ;;
  fan.speed | retired_pages.pending) v='[N/A]' ;;
  remapped_rows.pending | remapped_rows.failure) v=No ;;
  *) return 1 ;;
  esac
  [ "$units" = 1 ] || unit=
}

# Sets random to a number below $1.
roll() {
  seed=$(((seed * 1103515245 + 12345) % 2147483648))
  random=$((seed / 65536 % $1))
}

busy() {
  for mark in "$HOME"/.demo/busy/*; do
    [ -d "/proc/${mark##*/}" ] && return 0
  done
  return 1
}

# Sets what GPU $gpu reads now.
sample() {
  roll 12
  used=$((134100 + gpu * 16 + random))
  roll 4
  if [ "$busy" = 1 ]; then
    temperature=$((71 + random))
    roll 6
    util=$((94 + random))
    roll 4000
    watts=$((62500 + random))
  else
    temperature=$((42 + random))
    util=0
    roll 600
    watts=$((11800 + random))
  fi
  cents=$((100 + watts % 100))
  power=$((watts / 100)).${cents#1}
}

row() {
  line=
  for field in $list; do
    value "$field"
    line="$line, $v$unit"
  done
  printf '%s\n' "${line#, }" || exit 0
}

round() {
  case " $list " in
  *' timestamp '*)
    # busybox's date knows no fractions of a second.
    stamp=$(date '+%Y/%m/%d %H:%M:%S.%3N')
    case $stamp in *.[0-9][0-9][0-9]) ;; *) stamp=${stamp%.*}.000 ;; esac
    ;;
  esac
  busy=0
  if busy; then busy=1; fi
  for gpu in 0 1 2 3 4 5 6 7; do
    sample
    row
  done
}

# Field names as column titles carry the unit.
titles() {
  gpu=0 line=
  sample
  for field in $list; do
    value "$field"
    [ -z "$unit" ] || unit=" [${unit# }]"
    line="$line, $field$unit"
  done
  printf '%s\n' "${line#, }"
}

read -r up _ </proc/uptime
seed=${up#*.}${up%.*}
seed=$((1$seed % 2147483648))
busy=0 stamp=
if [ -z "$fields" ]; then
  for gpu in 0 1 2 3 4 5 6 7; do
    value uuid
    printf 'GPU %s: NVIDIA H200 (simulated) (UUID: %s)\n' "$gpu" "$v"
  done
  exit 0
fi
list=$(printf '%s' "$fields" | tr ',' ' ')
gpu=0
sample
for field in $list; do
  value "$field" || {
    printf 'Field "%s" is not a valid field to query.\n\n' "$field"
    exit 2
  }
done
[ "$header" = 0 ] || titles
round
hundredths=$((100 + every / 10 % 100))
while [ "$every" -gt 0 ] && [ -e "$HOME/.demo/alive" ] && [ -d "/proc/$owner" ]; do
  sleep "$((every / 1000)).${hundredths#1}"
  round
done
