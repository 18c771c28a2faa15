#!/bin/bash
# Usage: run.sh BUILD_FOLDER SWEEP.toml; as root, with slurm-wlm, munge and mpich installed. Starts a Slurm of its own on
# this machine (munged, slurmctld, slurmd in a folder that is removed at the end), runs the sweep through
# docs/trainfront.sbatch in every way that its users may, and compares the fronts with one that ran without Slurm.
# The sweep should take from ten seconds to three minutes on two cores by brute force: tests/bench/sweeps/
# long-brute-force.toml with a step of 16 GPUs took nine. Not part of the tests that every build runs: it takes five to
# ten minutes, most of it Slurm's wait before it starts a job again.
set -u
build=$(realpath "$1") sweep=$(realpath "$2")
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
export PATH=$build:/usr/sbin:$PATH SLURM_CONF=$work/slurm.conf
failed=0

note() { echo "$(date +%T) $*"; }
check() { # TEXT COMMAND...
  local text=$1
  shift
  if "$@"; then note "ok: $text"; else note "FAILED: $text"; failed=1; fi
}

stop() {
  scancel --user=root 2>/dev/null
  sleep 1
  for daemon in slurmd slurmctld munged; do
    [ -e "$work/$daemon.pid" ] && kill "$(cat "$work/$daemon.pid")" 2>/dev/null
  done
  sleep 1
  if [ -n "${KEEP:-}" ]; then echo "kept: $work"; else rm -rf "$work"; fi
}
trap stop EXIT

start() {
  local port=$((20000 + RANDOM % 20000))
  chmod 755 "$work"
  dd if=/dev/urandom of="$work/key" bs=1024 count=1 2>/dev/null
  chmod 400 "$work/key"
  munged --force --key-file="$work/key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munged.seed" || return 1
  mkdir -p "$work/state" "$work/spool"
  cat >"$SLURM_CONF" <<EOF
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CryptoType=crypto/munge
SlurmUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
MailProg=/bin/true
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_interval=1,bf_interval=1
KillWait=5
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
EOF
  slurmctld && slurmd || return 1
  for _ in $(seq 60); do
    [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && return 0
    sleep 0.5
  done
  sinfo
  for log in "$work"/slurm*.log; do tail -n 5 "$log"; done
  return 1
}

field() { # JOB NAME
  scontrol -o show job "$1" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -1
}
wait_for_end() { # JOB: its state
  local state
  for _ in $(seq 900); do
    state=$(field "$1" JobState)
    case $state in COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL) echo "$state"; return ;; esac
    sleep 0.5
  done
  echo "still $state"
}
wait_for() { # FILE
  for _ in $(seq 600); do
    [ -e "$1" ] && return 0
    sleep 0.1
  done
  return 1
}
submit() { # OPTIONS... : the template on two tasks of one thread
  sbatch --parsable --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 --chdir="$work" "$@"
}
same_front() { # FOLDER
  cmp "$work/$1/front.csv" "$work/whole/front.csv" && cmp "$work/$1/front.json" "$work/whole/front.json"
}
template=$source_folder/docs/trainfront.sbatch
export TRAINFRONT_OPTIONS="--brute-force --checkpoint-every 1s"

start || { echo "Slurm does not start"; exit 1; }
note "$(srun --version) is up"
trainfront sweep "$sweep" -o "$work/whole" --progress none --brute-force >"$work/whole.log" 2>&1 ||
  { cat "$work/whole.log"; exit 1; }
note "ran without Slurm: $(sed -n 's/^  "elapsed_s": //p' "$work/whole/run.json") s"

job=$(submit "$template" "$sweep" plain)
check "a job runs to its end" [ "$(wait_for_end "$job")" = COMPLETED ]
check "srun --mpi=pmi2 made two ranks" grep -q '"ranks": 2' "$work/plain/run.json"
check "the front is that without Slurm" same_front plain

# Slurm counts in minutes and warns up to a minute early: 60 s before the limit of a minute is at once.
job=$(submit --time=00:01:00 --signal=USR1@50 "$template" "$sweep" limited)
check "a job that is warned before its limit goes back into the queue and ends" [ "$(wait_for_end "$job")" = COMPLETED ]
check "it was requeued" [ "$(field "$job" Restarts)" -ge 1 ]
check "the second run went on" grep -q '"blocks_resumed": [1-9]' "$work/limited/run.json"
check "its front is the same" same_front limited

first=$(submit --no-requeue "$template" "$sweep" killed)
second=$(submit --no-requeue --kill-on-invalid-dep=yes --dependency=afternotok:"$first" "$template" "$sweep" killed)
wait_for "$work/killed/sweep.checkpoint"
scancel --signal=KILL "$first" # every task of the step, as a machine that dies would
check "a job whose tasks are killed does not end well" [ "$(wait_for_end "$first")" != COMPLETED ]
check "the job behind it in the chain goes on to the end" [ "$(wait_for_end "$second")" = COMPLETED ]
check "from where the other was" grep -q '"blocks_resumed": [1-9]' "$work/killed/run.json"
check "its front is the same" same_front killed

job=$(submit "$template" "$sweep" requeued)
wait_for "$work/requeued/sweep.checkpoint"
scontrol requeue "$job" # what Slurm does when a node fails or a better job comes
check "a job that Slurm puts back into the queue ends" [ "$(wait_for_end "$job")" = COMPLETED ]
check "its front is the same" same_front requeued

job=$(submit "$template" "$sweep" finished)
wait_for "$work/finished/sweep.checkpoint"
trainfront watch "$work/finished" --finish >"$work/watch.log"
check "a job that is asked for its front so far is not requeued" [ "$(wait_for_end "$job")" = FAILED ]
check "the front so far is there" grep -q '"partial": true' "$work/finished/partial/front.json"

plain=$(srun -n 2 trainfront sweep "$sweep" -o "$work/strangers" 2>&1)
check "a plain srun is told what is missing" grep -q -- '--mpi=pmi2' <<<"$plain"

[ "$failed" -eq 0 ] && note "all as it should be"
exit "$failed"
