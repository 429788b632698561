# shellcheck shell=sh disable=SC2034,SC2088,SC2154
# Reads an env_file. Its values stay in variables of this shell: not in a file, not in an argument, not in an answer.

# $1 the path. Into file_exports, lines of shell, and file_names, with blanks between; false with file_problem, in words.
read_env_file() {
  file_exports='' file_names='' file_problem=''
  case $1 in
    /* | '~' | '~/'*) expand "$1" ;;
    *) expanded=$HOME/$1 ;;
  esac
  if [ ! -e "$expanded" ]; then
    file_problem="The env_file $expanded does not exist on the host."
  elif [ ! -f "$expanded" ]; then
    file_problem="The env_file $expanded is not a regular file."
  else
    # Opened once, so that what is read is what was looked at.
    file_text=$({ stat -L -c '%u %a' /proc/self/fd/0 && parse_env_file; } 2>/dev/null <"$expanded")
    judge_env_file "$expanded"
  fi
  [ -z "$file_problem" ]
}
judge_env_file() {
  file_facts=${file_text%%"$line_feed"*}
  file_text=${file_text#*"$line_feed"}
  case $file_facts in
    '') file_problem="The env_file $1 cannot be read." && return ;;
    "$uid "*) ;;
    *) file_problem="The env_file $1 belongs to another user (${file_facts%% *}): it must be your own." && return ;;
  esac
  case ${file_facts#* } in
    600 | 400) ;;
    *) file_problem="The env_file $1 has the mode ${file_facts#* }: nobody else may have a part in it (chmod 600)." && return ;;
  esac
  file_last=${file_text##*"$line_feed"}
  case $file_last in
    '# names'*) file_exports=$file_text file_names=${file_last#\# names} ;;
    '# line '*) file_problem="The env_file $1 cannot be used: line ${file_last#\# line }." ;;
    *) file_problem="The env_file $1 could not be read to its end." ;;
  esac
}
line_feed='
'
# NAME=value, with `export` before it or not; a value in single or double quotes may go on over lines, one without ends
# at its line or before a blank and #. Nothing is expanded. What is wrong is told by its line's number alone.
parse_env_file() {
  LC_ALL=C awk '
    function wrong(line, why) { print "# line " line " " why; failed = 1; exit }
    # A character in single quotes of the shell.
    function safe(char) { return char == "\047" ? "\047\134\047\047" : char }
    function put() {
      printf "export %s=\047", name
      for (at = 1; at <= length(value); at++) printf "%s", safe(substr(value, at, 1))
      print "\047"
      names = names " " name
    }
    # Reads on in a quoted value; true when its end was found and nothing but a comment follows.
    function scan(text,    at, char) {
      for (at = 1; at <= length(text); at++) {
        char = substr(text, at, 1)
        if (char == quote) {
          if (substr(text, at + 1) !~ /^[ \t]*(#.*)?$/) wrong(NR, "has text after its closing quote")
          quote = ""
          return 1
        }
        if (quote == "\"" && char == "\134" && index("\"\134$`", substr(text, at + 1, 1)) && at < length(text)) {
          at++
          char = substr(text, at, 1)
        }
        value = value char
      }
      value = value "\n"
      return 0
    }
    { sub(/\r$/, "") }
    quote != "" { if (scan($0)) put(); next }
    NR == 1 { sub(/^\357\273\277/, "") }
    /^[ \t]*(#.*)?$/ { next }
    {
      sub(/^[ \t]+/, "")
      sub(/^export[ \t]+/, "")
      if ($0 !~ /^[A-Za-z_][A-Za-z0-9_]*=/) wrong(NR, "is not NAME=value")
      name = substr($0, 1, index($0, "=") - 1)
      rest = substr($0, index($0, "=") + 1)
      if (name ~ /^(BASHOPTS|BASH_VERSINFO|EUID|PPID|SHELLOPTS|UID|ML_SESSION_RUN|ML_ENVIRONMENT)$/)
        wrong(NR, "sets " name ", which cannot be set")
      value = ""
      quote = substr(rest, 1, 1)
      if (quote == "\047" || quote == "\"") {
        began = NR
        if (scan(substr(rest, 2))) put()
        next
      }
      quote = ""
      if (rest ~ /^#/) rest = ""
      sub(/[ \t]+#.*$/, "", rest)
      sub(/[ \t]+$/, "", rest)
      value = rest
      put()
    }
    END {
      if (failed) exit
      if (quote != "") print "# line " began " opens a quote that nothing closes"
      else print "# names" names
    }'
}
