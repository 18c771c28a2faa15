#!/bin/bash
# Usage: kill_harness.sh TRAINFRONT MPIEXEC SWEEP.toml KILLS
# Kills sweeps at random instants (all ranks, one rank, or by a gentle signal), lets reruns on other numbers of ranks and
# threads go on, and compares the final bytes with an undisturbed run's. Too long for every build; run it by hand.
set -u
program=$1 mpiexec=$2 sweep=$3 kills=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # RANKS THREADS FOLDER
  exec "$mpiexec" -n "$1" "$program" sweep "$sweep" -o "$3" --threads "$2" --brute-force --progress none \
    --checkpoint-every 50ms
}

start=$(date +%s%N)
(run 2 1 "$work/whole") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
whole_ms=$((($(date +%s%N) - start) / 1000000))

done_kills=0 finished=0 wrong=0 unexpected=0
while [ "$done_kills" -lt "$kills" ]; do
  (run $((1 + RANDOM % 4)) $((1 + RANDOM % 2)) "$work/killed") >"$work/log" 2>&1 &
  job=$!
  sleep "$(printf '0.%03d' $((RANDOM % 1000)))"
  if kill -0 "$job" 2>/dev/null; then
    case $((RANDOM % 3)) in
      0) kill -KILL "$job" ;;
      1) kill -USR1 "$job" ;;
      2) # one rank alone: a child of mpiexec's proxy
        proxy=$(pgrep -P "$job" | head -1)
        rank=$(pgrep -P "${proxy:-0}" | shuf -n 1)
        [ -n "$rank" ] && kill -KILL "$rank" ;;
    esac
    done_kills=$((done_kills + 1))
  fi
  wait "$job" 2>/dev/null
  status=$?
  # 0 finished; 75 stopped; 9 and 137 killed; 10 and 138 a signal before the program was ready; 1 and 7 a rank that
  # lost another
  case $status in 0 | 1 | 7 | 9 | 10 | 75 | 137 | 138) ;; *) unexpected=$((unexpected + 1)); echo "status $status"; cat "$work/log" ;; esac
  for file in front.csv front.json; do
    [ -e "$work/killed/$file" ] && ! cmp -s "$work/killed/$file" "$work/whole/$file" && wrong=$((wrong + 1))
  done
  if [ "$status" -eq 0 ]; then
    finished=$((finished + 1))
    rm -rf "$work/killed"
  fi
  sleep 0.05
done
echo "$done_kills kills, $finished sweeps finished ($whole_ms ms undisturbed), $wrong wrong, $unexpected unexpected ends"
[ "$wrong" -eq 0 ] && [ "$unexpected" -eq 0 ]
