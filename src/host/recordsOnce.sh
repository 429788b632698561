# shellcheck shell=sh
# All records of a session, once.
begin
print_all
finish
