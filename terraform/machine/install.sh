#!/usr/bin/env bash
# The first boot: makes the server or a client of this machine, by what /etc/pqcbench/machine.env says.
#
# Leaves one of 'ready' and 'failed' in /var/lib/pqcbench, until then 'installing', and what it did in
# /var/log/pqcbench-install.log. Can be run again after a failure.
set -Eeuo pipefail

# shellcheck source=/dev/null
. /etc/pqcbench/machine.env
state=/var/lib/pqcbench
source=/opt/pqcbench/source
export DEBIAN_FRONTEND=noninteractive HOME=/root

say() { printf 'pqcbench-install: %s %s\n' "$(date -u +%TZ)" "$*"; }
die() { printf '%s\n' "$*" >"$state/failed"; say "$*"; exit 1; }

# First of all: an installation that fails or hangs must not cost money for ever. An absolute time, so that a reboot
# does not begin it anew.
arm_shutdown() {
  local at=$(($(date +%s) + PQC_MAX_HOURS * 3600))
  [[ ! -e $state/deadline ]] || at=$(<"$state/deadline")
  echo "$at" >"$state/deadline"
  cat >/etc/systemd/system/pqcbench-shutdown.timer <<UNIT
[Unit]
Description=Shuts down, and so terminates, the machine after $PQC_MAX_HOURS h
[Timer]
OnCalendar=@$at
Persistent=true
AccuracySec=1s
[Install]
WantedBy=timers.target
UNIT
  cat >/etc/systemd/system/pqcbench-shutdown.service <<'UNIT'
[Unit]
Description=Shuts down the machine
[Service]
Type=oneshot
ExecStart=/usr/bin/systemctl poweroff
UNIT
  systemctl daemon-reload
  systemctl enable --now pqcbench-shutdown.timer
  [[ $PQC_SPOT != true ]] || systemctl enable --now pqcbench-spot.service
  say "shuts down at $(date -u -d "@$at" +%FT%TZ)"
}

# What wakes up by itself would be in the measurement. apt's own jobs hold the locks that are needed here, and begin soon after
# the boot: what is at work already is stopped too.
quieten() {
  local unit
  for unit in apt-daily.timer apt-daily-upgrade.timer unattended-upgrades.service man-db.timer motd-news.timer \
    fwupd-refresh.timer update-notifier-download.timer update-notifier-motd.timer; do
    systemctl disable --now "$unit" >/dev/null 2>&1 || true
  done
  systemctl stop apt-daily.service apt-daily-upgrade.service >/dev/null 2>&1 || true
  if command -v snap >/dev/null; then snap refresh --hold >/dev/null 2>&1 || true; fi
}

# DPkg::Lock::Timeout waits for the lock of the packages, not for that of their lists.
update() {
  local tries
  for ((tries = 1; tries <= 20; tries++)); do
    if apt-get -qq -o Acquire::Retries=5 update; then return; fi
    say "apt-get update failed, try $tries of 20; again in 15 s"
    sleep 15
  done
  die "apt-get update failed 20 times, see /var/log/pqcbench-install.log"
}

packages() { apt-get -y -qq -o Acquire::Retries=5 -o DPkg::Lock::Timeout=600 --no-install-recommends install "$@"; }

fetch_source() {
  packages ca-certificates git
  if [[ ! -d $source/.git ]]; then git init -q "$source"; fi
  git -C "$source" fetch -q --depth 1 "$PQC_GIT_URL" "$PQC_GIT_REF"
  git -C "$source" checkout -q --detach FETCH_HEAD
  commit=$(git -C "$source" rev-parse HEAD)
  say "source: $PQC_GIT_URL $PQC_GIT_REF = $commit"
}

tune() {
  install -m 644 "$source/deploy/90-pqcbench.conf" /etc/sysctl.d/
  sysctl -q -p /etc/sysctl.d/90-pqcbench.conf
}

# build.sh proves at its end that the server does what it should, or fails.
install_server() {
  local words=("$source/deploy/nginx/build.sh" --prefix /opt/pqcbench-nginx --name "$PQC_SERVER") interface
  [[ -z $PQC_OPENSSL_VERSION ]] || words+=(--openssl "$PQC_OPENSSL_VERSION" --openssl-sha256 "$PQC_OPENSSL_SHA256")
  "${words[@]}"
  if [[ -n $PQC_NETEM_RTT_MS ]]; then
    # The kernel of a cloud image has no netem by itself.
    modprobe -q sch_netem || packages "linux-modules-extra-$(uname -r)"
    interface=$(ip -4 route show default | awk '{ print $5; exit }')
    words=(set "$interface" --rtt "${PQC_NETEM_RTT_MS}ms" --force)
    [[ $PQC_NETEM_LOSS == 0 ]] || words+=(--loss "$PQC_NETEM_LOSS%")
    "$source/deploy/netem.sh" "${words[@]}"
  fi
}

install_client() {
  local jdk
  # 25 is best, see the launcher; the headless JRE is enough for the package, building needs a JDK.
  for jdk in 25 21 17; do
    if apt-cache show "openjdk-$jdk-jre-headless" >/dev/null 2>&1; then break; fi
  done
  if [[ -n $PQC_DEB_URL ]]; then
    packages "openjdk-$jdk-jre-headless" curl rclone
    curl -fsSL --retry 5 -o /tmp/pqcbench.deb "$PQC_DEB_URL"
    echo "$PQC_DEB_SHA256  /tmp/pqcbench.deb" | sha256sum --check --quiet ||
      die "the package is not the one that was meant: url=$PQC_DEB_URL sha256=$(sha256sum </tmp/pqcbench.deb | cut -d' ' -f1) expected=$PQC_DEB_SHA256"
    packages /tmp/pqcbench.deb
  else
    packages "openjdk-$jdk-jdk-headless" maven rclone
    mvn -B -q -f "$source/pom.xml" -pl loadgen,analysis package -DskipTests
    ln -sf "$source/loadgen/bin/loadgen" "$source/analysis/bin/loadgen-report" /usr/local/bin/
  fi
  loadgen --version
}

[[ $(id -u) == 0 ]] || { say "needs root"; exit 1; }
mkdir -p "$state"
exec > >(tee -a /var/log/pqcbench-install.log) 2>&1
rm -f "$state/failed" "$state/ready"
echo "since=$(date -u +%FT%TZ)" >"$state/installing"
trap 'rm -f "$state/installing"' EXIT
trap '[[ -s $state/failed ]] || echo "line $LINENO: $BASH_COMMAND" >"$state/failed"' ERR
case $PQC_ROLE in
  server | client) ;;
  *) die "neither server nor client: role=$PQC_ROLE" ;;
esac

arm_shutdown
quieten
update
commit=''
fetch_source
tune
"install_$PQC_ROLE"
printf 'role=%s commit=%s at=%s\n' "$PQC_ROLE" "$commit" "$(date -u +%FT%TZ)" >"$state/ready"
say "ready: $(<"$state/ready")"
