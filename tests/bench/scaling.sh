#!/bin/bash
# Usage: scaling.sh TRAINFRONT MPIEXEC SWEEP.toml REPEATS CASE... [-- OPTIONS...]
# A CASE is RANKSxTHREADS. Runs all cases in turn, REPEATS times, forwards and backwards, so that whatever else the machine
# does meets all alike, and prints for each case the median over the repeats of its seconds and of its efficiency: work
# done per second and core, against the first case of the same turn. Cores that a case can use are min(ranks x threads,
# cores of the machine).
set -eu
program=$1 mpiexec=$2 sweep=$3 repeats=$4
shift 4
cases=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  cases+=("$1")
  shift
done
[ $# -gt 0 ] && shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # CASE TURN
  "$mpiexec" -n "${1%x*}" "$program" sweep "$sweep" -o "$work/out" --threads "${1#*x}" --progress none --fresh \
    "${options[@]}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  local elapsed
  elapsed=$(sed -n 's/^  "elapsed_s": \([0-9.e+-]*\),*$/\1/p' "$work/out/run.json")
  echo "$2 $1 $elapsed $(cut -d' ' -f1 /proc/loadavg)" | tee -a "$work/times"
  cmp -s "$work/out/front.csv" "${reference:=$work/reference.csv}" 2>/dev/null ||
    { [ -e "$reference" ] && { echo "another front"; exit 1; } || cp "$work/out/front.csv" "$reference"; }
}

options=("$@")
for ((turn = 0; turn < repeats; ++turn)); do
  order=("${cases[@]}")
  if ((turn % 2)); then
    order=()
    for each in "${cases[@]}"; do order=("$each" "${order[@]}"); done
  fi
  for each in "${order[@]}"; do run "$each" "$turn"; done
done

echo "case     seconds  efficiency  (medians of $repeats; first case = 1)"
awk -v cores="$(nproc)" -v first="${cases[0]}" '
  function used(c,   p) { split(c, p, "x"); return p[1] * p[2] < cores ? p[1] * p[2] : cores }
  function median(list,   n, v, i, j, t) {
    n = split(list, v, " ")
    for (i = 2; i <= n; ++i) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; --j) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
  }
  { s[$1, $2] = $3; seen[$2] = 1; turns = $1 + 1; if (!($2 in at)) { at[$2] = ++n; name[n] = $2 } }
  END {
    for (i = 1; i <= n; ++i) {
      c = name[i]; all = ""; eff = ""
      for (t = 0; t < turns; ++t) {
        all = all " " s[t, c]
        eff = eff " " s[t, first] * used(first) / (s[t, c] * used(c))
      }
      printf "%-8s %7.2f  %.3f\n", c, median(all), median(eff)
    }
  }' "$work/times"
