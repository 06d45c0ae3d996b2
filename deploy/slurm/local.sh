#!/usr/bin/env bash
# A Slurm of two nodes on this machine alone, to try loadgen.sbatch without a cluster: munged, slurmctld and two slurmd on
# loopback, with a key and a folder of their own.
#
#   local.sh start          start the daemons
#   local.sh run COMMAND... run a command with SLURM_CONF set, such as sbatch, squeue, scancel
#   local.sh stop           end them, and remove the folder
#
# Needs root and Debian's packages, whose services stay off:
#   apt-get install --no-install-recommends slurmctld slurmd slurm-client munge
#
# Environment: SLURM_LOCAL_DIR   folder of everything; /tmp/slurm-local
set -euo pipefail

dir=${SLURM_LOCAL_DIR:-/tmp/slurm-local}
export SLURM_CONF=$dir/slurm.conf

say() { printf 'local.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

alive() { # pid-file
  local pid
  [[ -r $1 ]] && read -r pid <"$1" && kill -0 "$pid" 2>/dev/null
}

# Ours only, by its process id.
end() { # pid-file
  local pid
  alive "$1" || return 0
  read -r pid <"$1"
  kill "$pid"
  for _ in {1..50}; do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.1; done
  kill -KILL "$pid"
}

start() {
  local node cpus host
  ((EUID == 0)) || die "root is needed, as slurmd starts tasks of other users"
  for tool in munged slurmctld slurmd sbatch; do
    command -v "$tool" >/dev/null || die "$tool is missing: apt-get install --no-install-recommends slurmctld slurmd slurm-client munge"
  done
  if alive "$dir/slurmctld.pid"; then die "runs already: dir=$dir"; fi
  cpus=$(nproc) host=$(hostname -s)
  mkdir -p "$dir"/{state,spool-0,spool-1}
  chmod 755 "$dir"
  [[ -s $dir/munge.key ]] || (umask 077 && head -c 1024 /dev/urandom >"$dir/munge.key")
  cat >"$SLURM_CONF" <<CONF
ClusterName=local
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd-%n.log
# Nothing of the machine's control groups is touched.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/linear
SchedulerParameters=sched_interval=1
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
# Both nodes are this machine, each as if it had all of it.
SlurmdParameters=config_overrides
NodeName=0 NodeHostname=$host NodeAddr=127.0.0.1 Port=16820 CPUs=$cpus
NodeName=1 NodeHostname=$host NodeAddr=127.0.0.1 Port=16821 CPUs=$cpus
PartitionName=all Nodes=0,1 Default=YES State=UP
CONF
  # --force: a folder under /tmp would be refused.
  munged --force --num-threads=1 --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
    --log-file="$dir/munged.log" --seed-file="$dir/munge.seed" 2>"$dir/munged.err" || die "munged: $(tail -n 1 "$dir/munged.err")"
  slurmctld || die "slurmctld: see $dir/slurmctld.log"
  for node in 0 1; do
    slurmd -N "$node" || die "slurmd: see $dir/slurmd-$node.log"
  done
  for _ in {1..100}; do
    if [[ $(sinfo -h -N -o %t 2>/dev/null | sort | uniq -c | tr -d ' \n') == 2idle ]]; then sinfo; return; fi
    sleep 0.2
  done
  die "the nodes do not come up: $(sinfo -h -N -o '%n %t %E' 2>&1 | tr '\n' ' ')"
}

stop() {
  local daemon
  for daemon in slurmd-0 slurmd-1 slurmctld munged; do end "$dir/$daemon.pid"; done
  # Only what start has made.
  if [[ -f $SLURM_CONF ]]; then rm -rf -- "$dir"; fi
}

case ${1:-} in
  start) start ;;
  run) shift; exec "$@" ;;
  stop) stop ;;
  *) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
