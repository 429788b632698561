# shellcheck shell=sh disable=SC2154
# Which names the env_file gives, after envFile.sh. In: env_file uid.
if read_env_file "$env_file"; then
  for name in $file_names; do printf '@ name %s\n' "$name"; done
else
  printf '@ refused %s\n' "$file_problem"
fi
finish
