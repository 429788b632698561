# shellcheck shell=sh disable=SC2154
# Who this host is and what it has. In: state_dir.
read_id() { { IFS= read -r machine || :; } 2>/dev/null <"$1" && [ -n "$machine" ]; }
machine=
read_id /etc/machine-id || read_id /var/lib/dbus/machine-id || machine=none
hostname=$(uname -n)
now
printf '@ now %s\n@ machine %s\n@ hostname %s\n' "$now" "$machine" "$hostname"
boot=
{ IFS= read -r boot || :; } 2>/dev/null </proc/sys/kernel/random/boot_id
if stat_of 1; then
  printf '@ boot %s-%s\n@ has proc\n' "$boot" "$ticks"
fi
uid=$(id -u)
printf '@ uid %s\n@ user %s\n@ home %s\n' "$uid" "$(id -un 2>/dev/null || printf %s "$uid")" "$HOME"
for tool in bash setsid nvidia-smi busybox; do
  ! command -v "$tool" >/dev/null 2>&1 || printf '@ has %s\n' "$tool"
done
# Many people share a login node of a cluster: it has the programs of a scheduler (Slurm, PBS, LSF) and no GPU.
scheduler=
for tool in squeue qstat bjobs; do ! command -v "$tool" >/dev/null 2>&1 || scheduler=$tool; done
for gpu in /dev/nvidia[0-9]* /dev/kfd; do [ ! -e "$gpu" ] || scheduler=; done
[ -z "$scheduler" ] || printf '@ has login-node\n'
case $(tail --version 2>/dev/null </dev/null) in *'GNU coreutils'*) printf '@ has gnu-tail\n' ;; esac

# The state folder: the one asked for, else one in /var/tmp that nobody else can have made or can look into.
usable() {
  (umask 077 && mkdir -p -- "$1/v1") 2>/dev/null && [ -w "$1/v1" ] && (umask 077 && : >"$1/v1/.try.$$") 2>/dev/null && rm -f -- "$1/v1/.try.$$"
}
ours() {
  [ ! -L "$1" ] && [ -d "$1" ] && [ "$(stat -c '%u %a' -- "$1" 2>/dev/null)" = "$uid 700" ]
}
expand "$state_dir"
wanted=$expanded
fallback=/var/tmp/ml-session-$uid
if usable "$wanted"; then
  printf '@ root %s\n' "$wanted"
elif { (umask 077 && mkdir -- "$fallback") 2>/dev/null || ours "$fallback"; } && usable "$fallback"; then
  printf '@ fallback %s\n@ root %s\n' "$wanted" "$fallback"
else
  printf '@ unwritable %s\n@ root %s\n' "$wanted" "$wanted"
fi
finish
