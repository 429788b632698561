# shellcheck shell=sh disable=SC2015,SC2154
# Prints records. In: root, host, session. One grep prints all fields of all records as path:line; a path below the
# session's folder holds only the letters of names, so the first colon ends it, and a value of many lines stays whole.

# Fields of the records of host $1 below path $2.
print_fields() (
  cd -- "$root/v1/$1/$session/" 2>/dev/null || exit 0
  printf '@ host %s\n' "$1"
  LC_ALL=C find "./$2" -type d -name '.*' ! -name . -prune -o -type f ! -name '*.log' ! -name '*.sh' ! -name '*.lock' ! -name changes ! -name program \
    -exec grep '' /dev/null {} + 2>/dev/null
)
# Whether runs of this host without a verdict live: "@ live stage/member/run 1".
print_live() {
  for run_dir in "$root/v1/$host/$session/"$1/; do
    run_dir=${run_dir%/}
    [ -d "$run_dir" ] && ! ended "$run_dir" || continue
    live=0
    ! run_alive "$run_dir" || live=1
    # The end may have been written between the two looks; the fields are read after this.
    printf '@ live %s %s\n' "${run_dir#"$root/v1/$host/$session/"}" "$live"
  done
}
print_all() {
  print_live '*/*/*'
  for host_dir in "$root"/v1/*/; do
    host_dir=${host_dir%/}
    [ -d "$host_dir/$session" ] || continue
    print_fields "${host_dir##*/}" .
  done
  printf '@ done\n'
}
