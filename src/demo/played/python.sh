#!/bin/sh
# The demo host's Python: plays the scripts of its session and nothing else.
case ${1##*/} in
01b_generate_synthetic.py) score=inference ;;
02_extract_hidden_states.py) score=extraction ;;
03_train_eagle3.py) score=training ;;
--help | -h)
  echo 'usage: python [option] ... [file] [arg] ...'
  echo "The demo host's Python plays the scripts of its session and nothing else."
  exit 0
  ;;
--version | -V)
  echo 'Python 3.12.0 (simulated)'
  exit 0
  ;;
*)
  echo "python: can't open file '$1': [Errno 2] No such file or directory" >&2
  exit 2
  ;;
esac
# The simulated GPUs are at work while this process is there.
mkdir -p "$HOME/.demo/busy" && : >"$HOME/.demo/busy/$$"
exec sh "$HOME/.demo/play.sh" "$HOME/.demo/$score.score" "$PWD"
