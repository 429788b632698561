#!/bin/sh
# The old tool, as huggingface_hub 1.0 and later install it: it says its words and fails, whatever is asked.
cat "$HOME/.demo/stub-words.txt"
exit 1
