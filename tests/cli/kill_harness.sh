#!/bin/bash
# Usage: kill_harness.sh TRAINFRONT MPIEXEC SWEEP.toml KILLS [SEED]
# Kills sweeps at random instants, lets reruns on other numbers of ranks and threads go on, and compares the final bytes
# with an undisturbed run's. A sweep of some seconds by brute force is right. The kills, in equal parts: mpiexec, one rank,
# all ranks at once (each by SIGKILL), SIGTERM, SIGUSR1 and SIGINT to mpiexec, which passes them on. Now and then the front
# so far is asked for in between.
set -u
program=$1 mpiexec=$2 sweep=$3 kills=$4
RANDOM=${5:-$$}
work=$(mktemp -d)
# An mpiexec that is killed while its ranks start leaves them waiting for it for ever.
trap 'pkill -KILL -f "$work/killed"; rm -rf "$work"' EXIT

run() { # RANKS THREADS FOLDER
  exec "$mpiexec" -n "$1" "$program" sweep "$sweep" -o "$3" --threads "$2" --brute-force --progress none \
    --checkpoint-every 50ms
}
ranks_of() { # MPIEXEC'S PID: those of the ranks, children of its proxy
  local proxy
  proxy=$(pgrep -P "$1" | head -1)
  [ -n "$proxy" ] && pgrep -P "$proxy"
}

start=$(date +%s%N)
(run 2 1 "$work/whole") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
whole_ms=$((($(date +%s%N) - start) / 1000000))

kinds=(mpiexec one-rank all-ranks TERM USR1 INT)
declare -A killed
done_kills=0 finished=0 wrong=0 unexpected=0 partials=0 resumable=0
while [ "$done_kills" -lt "$kills" ]; do
  (run $((1 + RANDOM % 4)) $((1 + RANDOM % 2)) "$work/killed") >"$work/log" 2>&1 &
  job=$!
  kind=""
  : >"$work/begun"
  wait_ms=$((RANDOM % whole_ms))
  sleep "$((wait_ms / 1000)).$(printf '%03d' $((wait_ms % 1000)))"
  if kill -0 "$job" 2>/dev/null; then
    kind=${kinds[$((RANDOM % ${#kinds[@]}))]}
    case $kind in
      mpiexec) kill -KILL "$job" ;;
      one-rank)
        rank=$(ranks_of "$job" | shuf -n 1)
        [ -n "$rank" ] && kill -KILL "$rank" ;;
      all-ranks)
        ranks=$(ranks_of "$job")
        # shellcheck disable=SC2086
        [ -n "$ranks" ] && kill -KILL $ranks ;;
      *) # MPICH's mpiexec (4.0.2) hangs on a signal that comes while its ranks start
        while kill -0 "$job" 2>/dev/null && ! [ "$work/killed/status.json" -nt "$work/begun" ]; do sleep 0.05; done
        kill -"$kind" "$job" 2>/dev/null ;;
    esac
    killed[$kind]=$((${killed[$kind]:-0} + 1))
    done_kills=$((done_kills + 1))
  fi
  for ((tries = 0; tries < 600; ++tries)); do
    kill -0 "$job" 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 "$job" 2>/dev/null && [ -n "${kind:-}" ]; then
    echo "hangs after $kind"
    unexpected=$((unexpected + 1))
    kill -KILL "$job"
  fi
  wait "$job" 2>/dev/null
  status=$?
  # 0 finished; 75 stopped; 9 and 137 killed; 10, 15 and 130, 138, 143 a signal before the program was ready; 1 and 7 a
  # rank that lost another
  case $status in
    75) resumable=$((resumable + 1)) ;;
    0 | 1 | 7 | 9 | 10 | 15 | 130 | 137 | 138 | 143) ;;
    *) unexpected=$((unexpected + 1)); echo "status $status after ${kind:-nothing}"; cat "$work/log" ;;
  esac
  # An error of the program's own must have words; those of ranks that lost others come from MPI.
  grep -q "internal error\|cannot go on from\|is damaged" "$work/log" && { unexpected=$((unexpected + 1)); cat "$work/log"; }
  for file in front.csv front.json; do
    if [ -e "$work/killed/$file" ] && ! cmp -s "$work/killed/$file" "$work/whole/$file"; then
      wrong=$((wrong + 1))
      echo "after ${kind:-nothing} (status $status) $file is not what it should be:"
      diff "$work/killed/$file" "$work/whole/$file" | head -20
    fi
  done
  if [ "$status" -eq 0 ]; then
    finished=$((finished + 1))
    rm -rf "$work/killed"
  elif [ $((RANDOM % 8)) -eq 0 ] && [ -e "$work/killed/sweep.checkpoint" ]; then
    "$program" sweep "$sweep" -o "$work/killed" --front-so-far --progress none >"$work/log" 2>&1
    # A sweep whose files were about to be written is whole and leaves nothing partial.
    case $? in
      75) # A stop under load may have given up all that was begun.
        partials=$((partials + 1))
        grep -qs '"partial": true' "$work/killed/partial/front.json" || grep -q "nothing was found yet" "$work/log" ||
          { wrong=$((wrong + 1)); echo "the front so far is missing:"; cat "$work/log"; } ;;
      0) rm -rf "$work/killed" ;;
      *) unexpected=$((unexpected + 1)); cat "$work/log" ;;
    esac
  fi
  sleep 0.05
done
for kind in "${kinds[@]}"; do printf '%s %s, ' "${killed[$kind]:-0}" "$kind"; done
echo "$resumable ended with status 75"
echo "$done_kills kills, $finished sweeps finished ($whole_ms ms undisturbed), $partials fronts so far, $wrong wrong," \
  "$unexpected unexpected ends"
[ "$wrong" -eq 0 ] && [ "$unexpected" -eq 0 ]
