# shellcheck shell=sh
# All records of a session, once.
print_all
finish
