#!/bin/sh
# Times whole sweeps and prints the tables of docs/performance.md: whole_sweeps.sh BUILD_FOLDER [REPEATS]
# Of REPEATS runs (3) the one that took least of the processor counts. A calm machine is up to the caller; its
# load is printed.
set -eu
build=$1
repeats=${2:-3}
sweeps=$(dirname "$0")/sweeps
examples=$(dirname "$0")/../../inputs/examples

echo "load before: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores"
echo
echo '| sweep | plans | threads | s | CPU-s | M covered/CPU-s | M evaluated/CPU-s | evaluable | evaluated | MB | front |'
echo '|---|---|---|---|---|---|---|---|---|---|---|'
row() {
  i=0
  while [ "$i" -lt "$repeats" ]; do
    "$build/sweep_bench" --table "$@"
    i=$((i + 1))
  done | sort -t'|' -k6,6g | head -n 1
}
row --brute-force "$sweeps/mostly-legal.toml"
row "$sweeps/mostly-legal.toml"
row --brute-force "$sweeps/ten-billion.toml"
row "$sweeps/ten-billion.toml"
row --threads 2 "$sweeps/ten-billion.toml"
row "$examples/llama-3.1-405b.toml"
row --threads 2 "$examples/llama-3.1-405b.toml"
row "$sweeps/trillion.toml"
row --threads 2 "$sweeps/trillion.toml"

mpiexec=$(command -v mpiexec.mpich || command -v mpiexec) || exit 0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
echo
echo '| sweep, one thread a rank | ranks | least elapsed s of '"$repeats"' |'
echo '|---|---|---|'
for sweep in "$examples/llama-3.1-405b.toml" "$sweeps/trillion.toml"; do
  for ranks in 1 2; do
    i=0
    while [ "$i" -lt "$repeats" ]; do
      "$mpiexec" -n "$ranks" "$build/trainfront" sweep "$sweep" --threads 1 --fresh --progress none -o "$out" >/dev/null 2>&1
      sed -n 's/.*"elapsed_s": \([0-9.e+-]*\).*/\1/p' "$out/run.json"
      i=$((i + 1))
    done | sort -g | head -n 1 | sed "s/.*/| $(basename "$sweep") | $ranks | & |/"
  done
done
echo
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
