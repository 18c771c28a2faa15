#!/bin/bash
# Usage: run.sh RANKS...; needs libsimgrid-dev. Builds the engine's sharing against SimGrid's SMPI and runs it on so many
# simulated ranks. BLOCKS (per rank, 100), BLOCK_MS (50), POINTS (100), FAN_OUT (64), COMPUTE (yes: the real cost of
# handling messages counts, as this machine's processor takes it) and WORK (a folder that is kept) come from the
# environment.
set -eu
source_folder=$(cd "$(dirname "$0")/../../.." && pwd)
here=$source_folder/tests/bench/simulation
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"

if [ ! -e "$work/simulated_job" ]; then
  objects=""
  for name in engine/transport engine/share engine/team engine/archive engine/block_ranges engine/stop_cause \
    engine/failure search/front search/walk inputs/diagnostics inputs/suggest tests/bench/simulation/simulated_job; do
    object=$work/$(basename $name).o
    [ -e "$object" ] || smpicxx -std=c++20 -O2 -fPIC -ffp-contract=off -fopenmp -I"$source_folder" \
      -include "$here/simulated_clock.hpp" -c "$source_folder/$name.cpp" -o "$object"
    objects="$objects $object"
  done
  # walk() itself is never called here; what it needs stays out.
  smpicxx -fopenmp $objects -o "$work/simulated_job" -lboost_serialization -lfmt -Wl,--unresolved-symbols=ignore-all -Wl,--warn-unresolved-symbols -Wl,-z,lazy
fi

# A fat tree stands behind it: every node with 100 Gbit/s and 2 us; one rank a node.
for ranks in "$@"; do
  cat >"$work/platform.xml" <<EOF
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-$((ranks - 1))" speed="1Gf" bw="12.5GBps" lat="1us"/>
</platform>
EOF
  seq -f 'n%.0f' 0 $((ranks - 1)) >"$work/hosts"
  smpirun -np "$ranks" -platform "$work/platform.xml" -hostfile "$work/hosts" -no-privatize \
    --cfg=smpi/simulate-computation:"${COMPUTE:-yes}" --cfg=smpi/host-speed:1Gf --cfg=smpi/cpu-threshold:1e-7 \
    --cfg=smpi/test:1e-7 --cfg=smpi/iprobe:1e-7 --cfg=smpi/grow-injected-times:no \
    --cfg=contexts/stack-size:256 --log=root.thres:error \
    "$work/simulated_job" "${BLOCKS:-100}" "${BLOCK_MS:-50}" "${POINTS:-100}" "${FAN_OUT:-64}"
done
