#!/usr/bin/env bash
# Gives the way between two machines a longer round trip and loss, for series over the RTT without a second region.
# A frontend to tc's netem that cannot forget to say on which machine which part of the delay is, and that does not cut
# off the machine it runs on.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: netem.sh set IFACE --rtt TIME [--loss PERCENT] [--half] [--force]
       netem.sh clear IFACE
       netem.sh show [IFACE]

  --rtt TIME      added to each round trip, e.g. 50ms, 0.5ms, 1500us, 1s; at most 10s
  --loss PERCENT  of the packets that leave this machine, e.g. 0.1%; at most 50%; default: none
  --half          this machine adds half of the RTT, and the other one, on which the same is run, the other half
  --force         also on the interface that carries the default route, or instead of a queueing discipline of yours

netem delays what LEAVES the interface, never what arrives. So:
  - Without --half the whole RTT is added here: run it on ONE of the two machines, best on the server. A delay at the
    client also takes the client's processor time, and its packets leave later than it believes.
  - With --half run the same command on BOTH machines. Loss then happens both ways.
  - All traffic of the interface is concerned, ssh too. Where it carries the default route, as the only interface of a
    cloud instance does, --force is needed.
  - On "lo" a packet leaves in both directions, so half of the RTT is set by itself.
It lasts until "clear" or a restart. Needs root, tc and ip (package iproute2), and a kernel with sch_netem
(linux-modules-extra of your kernel on Ubuntu). Measure what you got: ping, or the RTT in the header of "loadgen run".

Not run against a real netem so far: the kernel that this was written on has none. Its arguments are tested.

Exit: 0 fine, 1 error, 2 usage, 3 refused.
TEXT
}
say() { printf 'netem.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
wrong() { say "$*; see --help"; exit 2; }
refuse() { say "$*"; exit 3; }

# Prints a time in microseconds. Not by bash's arithmetic, which has no fractions.
microseconds() { # time
  [[ $1 =~ ^([0-9]+(\.[0-9]+)?)(us|ms|s)$ ]] || return 1
  awk -v n="${BASH_REMATCH[1]}" -v unit="${BASH_REMATCH[3]}" \
    'BEGIN { printf "%.0f", n * (unit == "s" ? 1000000 : unit == "ms" ? 1000 : 1) }'
}

check_interface() {
  local known
  [[ $1 =~ ^[A-Za-z0-9_.@:-]{1,15}$ ]] || wrong "not the name of an interface: interface=$1"
  ip link show dev "$1" >/dev/null 2>&1 && return
  known=$(ip -o link show 2>/dev/null | awk -F': ' '{ sub(/@.*/, "", $2); printf "%s%s", s, $2; s = " " }') || true
  die "there is no such interface: interface=$1; there are: ${known:-none}"
}

# Does a default route of the main table, IPv4 or IPv6, go over the interface? Several ways to it have a line each.
carries_default() { # interface
  { ip -4 route show default; ip -6 route show default 2>/dev/null || true; } |
    awk -v wanted="$1" '{ for (i = 1; i < NF; i++) if ($i == "dev" && $(i + 1) == wanted) found = 1 } END { exit !found }'
}

# "netem 8001:" or the like: kind and handle of the queueing discipline at the root. The kernel's own have handle 0.
root_of() { tc qdisc show dev "$1" | awk '/ root / || / root$/ { print $2, $3; exit }'; }

need_tools() {
  local tool
  for tool in tc ip awk; do command -v "$tool" >/dev/null || die "$tool is missing: apt-get install iproute2"; done
}

set_netem() {
  local interface=$1 rtt='' loss='' half='' force='' rtt_us delay present options=()
  shift
  while (($# > 0)); do
    case $1 in
      --rtt | --loss) (($# > 1)) || wrong "$1 needs a value" ;;&
      --rtt) rtt=$2; shift 2 ;;
      --loss) loss=$2; shift 2 ;;
      --half) half=yes; shift ;;
      --force) force=yes; shift ;;
      *) wrong "unknown option: $1" ;;
    esac
  done
  [[ -n $rtt ]] || wrong "--rtt is missing"
  rtt_us=$(microseconds "$rtt") || wrong "not a time such as 50ms: rtt=$rtt"
  # Beyond that a typing error is likelier, and one that ends the session from which it could be cleared.
  ((rtt_us >= 1 && rtt_us <= 10000000)) || wrong "out of range: rtt=$rtt, limits 1us and 10s"
  if [[ -n $loss ]]; then
    [[ $loss =~ ^([0-9]+(\.[0-9]+)?)%$ ]] || wrong "not a percentage such as 0.1%: loss=$loss"
    awk -v n="${BASH_REMATCH[1]}" 'BEGIN { exit !(n > 0 && n <= 50) }' || wrong "out of range: loss=$loss, limits above 0% and 50%"
    options=(loss "$loss")
  fi
  if [[ $interface == lo && -n $half ]]; then wrong "on lo both directions leave it: without --half"; fi
  check_interface "$interface"
  if [[ -z $force ]] && carries_default "$interface"; then
    refuse "the default route goes over interface=$interface, your ssh session perhaps too: give --force if you mean it"
  fi
  present=$(root_of "$interface")
  if [[ -z $force && -n $present && $present != netem\ * && $present != *' 0:' ]]; then
    refuse "interface=$interface has a queueing discipline that somebody set: qdisc=$present; --force replaces it"
  fi
  delay=$rtt_us
  if [[ -n $half || $interface == lo ]]; then delay=$(((rtt_us + 1) / 2)); fi
  # netem drops what its queue does not hold, and 1,000 packets by default are 20,000/s at 50 ms.
  tc qdisc replace dev "$interface" root netem limit 200000 delay "${delay}us" "${options[@]}" ||
    die "tc refused it: root is needed, and the kernel's sch_netem (Ubuntu: linux-modules-extra-$(uname -r))"
  say "interface=$interface delays what leaves by $delay us${loss:+ and loses $loss of it}"
  if [[ $interface == lo ]]; then say "that is $rtt a round trip, as both directions leave lo"
  elif [[ -n $half ]]; then say "that is half of the RTT: run the same on the other machine"
  else say "that is the whole RTT: leave the other machine as it is"; fi
  say "undo: netem.sh clear $interface"
}

clear_netem() {
  local present
  check_interface "$1"
  present=$(root_of "$1")
  [[ $present == netem\ * ]] || die "no netem on interface=$1, nothing was changed: qdisc=${present:-none}"
  tc qdisc del dev "$1" root || die "tc could not remove it: root is needed"
  say "interface=$1 is as the kernel has it by default"
}

case ${1:-} in
  set) (($# > 1)) || wrong "set needs an interface"; need_tools; set_netem "${@:2}" ;;
  clear) (($# == 2)) || wrong "clear needs one interface"; need_tools; clear_netem "$2" ;;
  show)
    (($# <= 2)) || wrong "show takes one interface at most"
    need_tools
    if (($# == 2)); then check_interface "$2"; tc -s qdisc show dev "$2"; else tc qdisc show; fi
    ;;
  --help | -h) usage ;;
  *) wrong "set, clear or show: command=${1:-}" ;;
esac
