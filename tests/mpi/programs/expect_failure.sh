#!/bin/sh
# Usage: expect_failure.sh STATUS TEXT COMMAND...: the command must end by itself within 20 s, with that exit status and
# that text on standard error.
status=$1 text=$2
shift 2
err=$(mktemp)
timeout 20 "$@" 2>"$err"
got=$?
cat "$err"
found=1
grep -q -- "$text" "$err" && found=0
rm -f "$err"
[ "$got" -eq "$status" ] || { echo "exit status $got, expected $status"; exit 1; }
[ "$found" -eq 0 ] || { echo "standard error lacks: $text"; exit 1; }
