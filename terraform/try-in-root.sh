#!/usr/bin/env bash
# Executes the user data of both roles in fresh Debian root folders, as far as a root folder allows: cloud-init itself writes
# the files and makes the commands' script, the installation runs, an experiment begins, is interrupted by a notice of the
# metadata service, goes on, and is copied. Replaced are systemd, sysctl, tc and snap (stubs that write down what they are
# told; the one of systemctl starts and stops the experiment), the metadata service and the bucket.
#
# Usage: try-in-root.sh client-deb FILE.deb | client-git | server [SUITE]   (default trixie)
# As root, on Debian, with mmdebstrap, git, jq and the network. About 2 to 10 min each. The root folder is removed.
# Environment: M2       a folder for Maven, in the place of /root/.m2
#              SOURCES  a folder with the tarballs that build.sh would download, for a machine that cannot
#              OPENSSL  the version of the one in there; default: build.sh's own
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
say() { printf '== %s\n' "$*"; }
die() { printf 'try-in-root.sh: %s\n' "$*" >&2; exit 1; }

what=${1:?see the head of this file}
shift
deb=''
case $what in
  client-deb) deb=${1:?the package is missing}; shift ;;
  client-git | server) ;;
  *) die "unknown: $what" ;;
esac
suite=${1:-trixie}
((UID == 0)) || die "needs root, for chroot: UID=$UID"

scratch=$(mktemp -d)
root=$scratch/root
in_root=(chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root)
cleanup() {
  local process mounted
  # What was started in there, whoever its parent is.
  for process in /proc/[0-9]*; do
    if [[ $(readlink "$process/root" 2>/dev/null) == "$root" ]]; then kill "${process#/proc/}" 2>/dev/null || true; fi
  done
  sleep 2
  for mounted in proc dev root/.m2; do
    if mountpoint -q "$root/$mounted"; then umount -l "$root/$mounted"; fi
  done
  rm -rf --one-file-system "$scratch"
}
trap cleanup EXIT

say "a root folder of Debian $suite"
mmdebstrap --quiet --variant=minbase --include=ca-certificates,curl,procps,iproute2 "$suite" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
"${in_root[@]}" sh -c 'apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install cloud-init' >/dev/null 2>&1
"${in_root[@]}" cloud-init --version

say "stubs"
for stub in sysctl tc snap shutdown; do
  printf '#!/bin/sh\necho "stub: %s $*"\n' "$stub" >"$root/usr/local/sbin/$stub"
done
cat >"$root/usr/local/sbin/systemctl" <<'STUB'
#!/bin/bash
# Of systemd: what starts and stops the experiment, and what that is told at its end.
echo "stub: systemctl $*" >&2
pid=/run/experiment.pid
case "$*" in
  "start --no-block pqcbench-experiment")
    (
      setsid pqcbench-run experiment >>/var/log/experiment.log 2>&1 &
      echo $! >$pid
      wait $!
      export SERVICE_RESULT=stub EXIT_STATUS=$?
      rm $pid
      pqcbench-run ended
      touch /run/experiment.ended
    ) </dev/null >/dev/null 2>&1 &
    ;;
  "is-active --quiet pqcbench-experiment") [[ -e $pid ]] ;;
  "stop pqcbench-experiment"*)
    [[ ! -e $pid ]] || kill -TERM "$(cat $pid)"
    while [[ -e $pid ]]; do sleep 0.2; done
    ;;
esac
STUB
chmod +x "$root"/usr/local/sbin/*
rm -f "$root/usr/sbin/policy-rc.d"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"

say "user data"
git clone -q --bare "$here/.." "$root/srv/pqcbench.git"
git --git-dir "$root/srv/pqcbench.git" config uploadpack.allowAnySHA1InWant true
commit=$(git -C "$here" rev-parse HEAD)
role=${what%%-*} machine=server
[[ $role == server ]] || machine=client-0
sum='' openssl_sum=''
if [[ -n ${OPENSSL:-} ]]; then openssl_sum=$(sha256sum <"$SOURCES/openssl-$OPENSSL.tar.gz" | cut -d' ' -f1); fi
if [[ -n $deb ]]; then
  cp "$deb" "$root/srv/pqcbench.deb"
  chmod 644 "$root/srv/pqcbench.deb"
  sum=$(sha256sum <"$deb" | cut -d' ' -f1)
fi
mkdir "$root/srv/bucket"
cat >"$scratch/machine.env" <<ENV
PQC_DEB_SHA256=$sum
PQC_DEB_URL=${deb:+file:///srv/pqcbench.deb}
PQC_EXPERIMENT=quick
PQC_GIT_REF=$commit
PQC_GIT_URL=file:///srv/pqcbench.git
PQC_MACHINE=$machine
PQC_MAX_HOURS=6
PQC_NAME=try
PQC_NETEM_RTT_MS=
PQC_NETEM_LOSS=
PQC_OPENSSL_SHA256=$openssl_sum
PQC_OPENSSL_VERSION=${OPENSSL:-}
PQC_RESULTS=/srv/bucket
PQC_ROLE=$role
PQC_SERVER=127.0.0.1
PQC_SHARDS=1
PQC_SPOT=true
ENV
"$here/render.sh" "$scratch/machine.env" "$here/../samples/quick.yaml" >"$root/srv/user-data.yaml"
"${in_root[@]}" cloud-init schema --config-file /srv/user-data.yaml
gzip -9c "$root/srv/user-data.yaml" | wc -c | sed 's/$/ bytes compressed, of 16384/'

say "cloud-init's own modules write the files and the script of runcmd"
"${in_root[@]}" python3 - <<'PYTHON'
import yaml
from cloudinit import util
from cloudinit.config import cc_write_files

data = yaml.safe_load(open("/srv/user-data.yaml"))
cc_write_files.write_files("write_files", data["write_files"], "root:root")
open("/srv/runcmd.sh", "w").write(util.shellify(data["runcmd"]))
PYTHON
"${in_root[@]}" sh -c 'ls -l /etc/pqcbench /usr/local/sbin/pqcbench-* /etc/systemd/system/pqcbench-*; cat /srv/runcmd.sh'

say "the first boot's command"
if [[ -n ${SOURCES:-} ]]; then
  mkdir "$root/srv/sources"
  cp "$SOURCES"/*.tar.gz "$root/srv/sources/"
  cat >"$root/usr/local/sbin/curl" <<'STUB'
#!/bin/bash
# Takes what is in /srv/sources from there, and all else from where it is.
url='' out='' previous=''
for word in "$@"; do
  [[ $word != https://* ]] || url=$word
  [[ $previous != -o ]] || out=$word
  previous=$word
done
if [[ -n $out && -e /srv/sources/${url##*/} ]]; then
  echo "stub: curl $url" >&2
  exec cp "/srv/sources/${url##*/}" "$out"
fi
exec /usr/bin/curl "$@"
STUB
  chmod +x "$root/usr/local/sbin/curl"
fi
if [[ -n ${M2:-} ]]; then
  mkdir -p "$root/root/.m2"
  mount --bind "$M2" "$root/root/.m2"
fi
began=$SECONDS
if ! "${in_root[@]}" sh /srv/runcmd.sh; then
  cat "$root/var/lib/pqcbench/failed"
  die "the installation failed"
fi
say "installed after $((SECONDS - began)) s"
[[ ! -e $root/var/lib/pqcbench/installing ]] || die "it says that it installs still"
cat "$root/var/lib/pqcbench/ready" "$root/etc/systemd/system/pqcbench-shutdown.timer"
if [[ $role == server ]]; then exit; fi

say "a server on 127.0.0.1:443, and a metadata service without a notice"
"${in_root[@]}" loadgen serve --port 443 >"$scratch/serve.log" 2>&1 &
cat >"$root/srv/metadata.py" <<'PYTHON'
import http.server, os
class Metadata(http.server.BaseHTTPRequestHandler):
    def answer(self, code, text=""):
        self.send_response(code); self.end_headers(); self.wfile.write(text.encode())
    def do_PUT(self):
        self.answer(200, "token")
    def do_GET(self):
        if self.headers.get("X-aws-ec2-metadata-token") != "token":
            return self.answer(401)
        notice = os.path.exists("/srv/notice")
        self.answer(200 if notice else 404, open("/srv/notice").read() if notice else "")
    def log_message(self, *words):
        pass
http.server.HTTPServer(("127.0.0.1", 1338), Metadata).serve_forever()
PYTHON
"${in_root[@]}" python3 /srv/metadata.py &
"${in_root[@]}" env PQC_METADATA=http://127.0.0.1:1338 pqcbench-spot >"$scratch/spot.log" 2>&1 &
spot=$!

wait_for() { # seconds, command...
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || { cat "$root/var/log/experiment.log" "$scratch/spot.log"; die "waited in vain for: $*"; }
    sleep 1
  done
}
trials_ended() { local file=$root/var/lib/pqcbench/results/quick/trials.jsonl; [[ -e $file ]] && (($(wc -l <"$file") >= $1)); }

say "the experiment begins; after its second trial comes the notice"
# Shorter, and whatever the verdict: client and server share this machine.
sed -i 's/duration: .*/duration: 4s/; s/warmup: .*/warmup: 1s/; s/blocks: .*/blocks: 2/' "$root/etc/pqcbench/experiment.yaml"
"${in_root[@]}" pqcbench-run start --force
wait_for 180 trials_ended 2
printf '{"action": "terminate", "time": "%s"}\n' "$(date -u -d '+78 seconds' +%FT%TZ)" >"$root/srv/notice"
wait_for 120 test -e "$root/run/experiment.ended"
wait "$spot" || true
cat "$scratch/spot.log"
"${in_root[@]}" pqcbench-run status
jq -r '"status of the experiment: \(.status)"' "$root/var/lib/pqcbench/results/quick/experiment.json"
say "what the bucket has"
(cd "$root/srv/bucket" && find . -maxdepth 5 | sort | head -30)

say "the bucket cannot be read, and nothing begins: rclone is a stub that fails"
rm -r "$root/var/lib/pqcbench/results" "$root/run/experiment.ended" "$root/srv/notice"
printf '#!/bin/sh\necho "AccessDenied" >&2\nexit 1\n' >"$root/usr/local/sbin/rclone"
chmod +x "$root/usr/local/sbin/rclone"
"${in_root[@]}" pqcbench-run start --force
wait_for 60 test -e "$root/run/experiment.ended"
tail -2 "$root/var/log/experiment.log"
[[ ! -e $root/var/lib/pqcbench/results/quick ]] || die "an experiment began"

say "another experiment under the same name is refused"
rm -r "$root/usr/local/sbin/rclone" "$root/run/experiment.ended"
cp "$root/etc/pqcbench/experiment.yaml" "$scratch/"
sed -i 's/blocks: .*/blocks: 3/' "$root/etc/pqcbench/experiment.yaml"
"${in_root[@]}" pqcbench-run start --force
wait_for 60 test -e "$root/run/experiment.ended"
tail -2 "$root/var/log/experiment.log"
[[ $(wc -l <"$root/var/lib/pqcbench/results/quick/trials.jsonl") == "$(wc -l <"$root/srv/bucket/try/client-0/quick/trials.jsonl")" ]] || die "trials were added"
cp "$scratch/experiment.yaml" "$root/etc/pqcbench/"

say "the same folder as another machine would have it, empty: it goes on with what is in the bucket"
rm -r "$root/var/lib/pqcbench/results" "$root/run/experiment.ended"
"${in_root[@]}" pqcbench-run start --force
wait_for 240 test -e "$root/run/experiment.ended"
tail -25 "$root/var/log/experiment.log"
"${in_root[@]}" pqcbench-run status
jq -e '.status == "complete"' "$root/srv/bucket/try/client-0/quick/experiment.json" >/dev/null || die "the bucket's copy is not complete"
"${in_root[@]}" loadgen-report /srv/bucket/try/client-0/quick | head -12
say "done"
