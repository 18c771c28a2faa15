#!/bin/sh
# Whether every loop that a source marks with TRAINFRONT_ARRAYS_ARE_APART is vectorised, in the copies for SSE2, AVX2
# and AVX-512, as g++ says it is: no result depends on it, so that no other test would notice.
# vectorised.sh SOURCE COMPILER OPTION...
set -eu
source=$1
shift
name=$(basename "$source")
loops=$(sed -n '/^ *TRAINFRONT_ARRAYS_ARE_APART/{n;=;}' "$source")
[ -n "$loops" ] || { echo "$name marks no loop" >&2; exit 1; }
said=$("$@" -fopt-info-vec -fopt-info-vec-missed -S -o /dev/null "$source" 2>&1) || { echo "$said" >&2; exit 1; }
lost=0
for line in $loops; do
  for bytes in 16 32 64; do
    if ! echo "$said" | grep -q "$name:$line:[0-9]*: optimized: loop vectorized using $bytes byte vectors"; then
      echo "$name:$line: no vectors of $bytes bytes" >&2
      echo "$said" | grep "$name:$line:[0-9]*: missed: not" | sort -u >&2 || true
      lost=1
    fi
  done
done
[ "$lost" = 0 ] && echo "$name: $(echo "$loops" | wc -l) loops, each vectorised in 16, 32 and 64 bytes"
