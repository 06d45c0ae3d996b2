#!/usr/bin/env bash
# Real nginx with OpenSSL 3.5 (X25519MLKEM768, ML-DSA) for local tests, with nothing installed.
#
#   local.sh start    fetch (first time only) and start; prints target=, access_log=, pid=,
#                     tls12=, tickets=, p256=, keepalive= on stdout, one per line; all else goes to stderr
#   local.sh stop     end that nginx, and only that one
#   local.sh status   the same lines as start, or exit 1 when it does not run
#
# Exit: 0 fine, 1 error (status: not running), 2 usage,
#       3 nginx cannot be had here (one line "nginx-unavailable: ..." on stderr).
#
# Environment:
#   NGINX_LOCAL_DIR      configuration, certificate (cert.pem), logs; <repo>/loadgen/target/nginx
#   NGINX_LOCAL_CACHE    unpacked packages; ${XDG_CACHE_HOME:-~/.cache}/pqcbench/nginx-<arch>
#   NGINX_LOCAL_PORT     port of the main listener; a free one. The other four are always free ones
#   NGINX_LOCAL_GROUPS   groups of the main and tickets listeners, in OpenSSL's syntax
#   NGINX_LOCAL_WORKERS  worker processes; 1
#
# The packages come from Debian 13 (trixie) through the mirror, keyring and proxy that this host's
# apt already uses, but with private apt folders: the host's sources, lists and cache stay as they
# are. They run through their own dynamic loader, so Debian 12's older libc does not matter.
set -euo pipefail

suite=trixie
packages=(nginx openssl libssl3t64 libcrypt1 libpcre2-8-0 zlib1g libzstd1 libc6)

say() { printf 'local.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
unavailable() { printf 'nginx-unavailable: %s\n' "$*" >&2; exit 3; }

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
dir=$(realpath -m -- "${NGINX_LOCAL_DIR:-$here/../../loadgen/target/nginx}")
conf=$dir/nginx.conf

# --- The process ---------------------------------------------------------------------------------

# Is this process our nginx? It runs through a loader and in the build folder (which somebody may
# have deleted since). Its command line is no help: nginx writes its title over it, and behind a
# loader that goes astray. A zombie has neither link and thus counts as gone.
ours() { # pid
  local exe cwd
  exe=$(readlink "/proc/$1/exe") && cwd=$(readlink "/proc/$1/cwd") || return 1
  [[ $exe == */ld-linux-*.so.* && ${cwd% (deleted)} == "$dir" ]]
}

# Prints the pid of our nginx if it runs. A pid file may be stale and its number in use by another.
running_pid() {
  local pid
  [[ -r $dir/nginx.pid ]] && read -r pid <"$dir/nginx.pid" && [[ $pid =~ ^[0-9]+$ ]] || return 1
  ours "$pid" && echo "$pid"
}

# Prints the pid of our nginx when its pid file is gone, as after "mvn clean". The master is the one
# whose parent is not ours.
lost_pid() {
  local cwd pid
  # shellcheck disable=SC2044  # find prints /proc/PID/cwd, nothing that could be split
  for cwd in $(find /proc -mindepth 2 -maxdepth 2 -name cwd -lname "$dir*" 2>/dev/null || true); do
    pid=${cwd//[!0-9]/}
    if ours "$pid" && ! ours "$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status")"; then echo "$pid"; return; fi
  done
  return 1
}

print_endpoints() { # pid
  local key value
  while IFS='=' read -r key value; do
    printf '%s=%s\n' "$key" "$value"
    if [[ $key == access_log ]]; then printf 'pid=%s\n' "$1"; fi
  done <"$dir/endpoints"
}

# --- The packages --------------------------------------------------------------------------------

# Prints the first Debian archive entry of the host's apt sources, as deb822, with the suite put to
# trixie. Every other option is kept as the host has it (Signed-By, Trusted, Check-Valid-Until ...):
# this script never makes up its own idea of what is trusted.
private_source() {
  local codename=$1 arch=$2 part file etc='' list='' parts='' found
  eval "$(apt-config shell etc Dir::Etc/d list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
  : "${etc:=/etc/apt/}" "${list:=${etc}sources.list}" "${parts:=${etc}sources.list.d/}"
  for file in "$list" "$parts"*.list "$parts"*.sources; do
    [[ -r $file ]] || continue
    # One-line entries become stanzas first; both kinds then go through the same filter.
    if [[ $file == *.sources ]]; then part=$(sed 's/[[:space:]]*$//; /^#/d' "$file"); else
      part=$(awk '{ sub(/#.*/, "") } $1 == "deb" {
        options = ""
        if (match($0, /\[[^]]*\]/)) {
          options = substr($0, RSTART + 1, RLENGTH - 2)
          $0 = substr($0, 1, RSTART - 1) " " substr($0, RSTART + RLENGTH)
        }
        printf "Types: deb\nURIs: %s\nSuites: %s\nComponents:", $2, $3
        for (i = 4; i <= NF; i++) printf " %s", $i
        n = split(options, option, " ")
        for (i = 1; i <= n; i++) { sub(/[+-]?=/, ": ", option[i]); printf "\n%s", option[i] }
        printf "\n\n"
      }' "$file")
    fi
    found=$(printf '%s\n' "$part" | awk -v codename="$codename" -v suite="$suite" -v arch="$arch" '
      BEGIN { RS = ""; FS = "\n" }
      {
        keep = name = ""; split("", field)
        for (i = 1; i <= NF; i++) {
          value = " " $i  # a continuation line, e.g. of an inline key
          if ($i ~ /^[^ \t]/) { name = tolower($i); sub(/:.*/, "", name); sub(/^ [^:]*:[ \t]*/, " ", value) }
          field[name] = field[name] value " "
          if (name !~ /^(types|suites|components|enabled|arch|architectures|lang|languages|target|targets|pdiffs)$/)
            keep = keep "\n" $i
        }
        if (tolower(field["enabled"]) ~ / (no|false|0|off|without|disable) / || field["uris"] ~ / cdrom:/) next
        if (field["types"] !~ / deb / || field["components"] !~ / main /) next
        if (field["suites"] !~ (" (" codename "|" suite "|stable|oldstable) ")) next
        # "Targets" keeps apt from fetching translations, icons and file lists as well.
        print "Types: deb\nSuites: " suite "\nComponents: main\nArchitectures: " arch "\nTargets: Packages" keep
        exit
      }')
    if [[ -n $found ]]; then printf '%s\n' "$found"; return; fi
  done
  say "no Debian archive in this host's apt sources, taking deb.debian.org"
  printf '%s\n' 'Types: deb' 'URIs: http://deb.debian.org/debian' "Suites: $suite" 'Components: main' \
    "Architectures: $arch" 'Targets: Packages' 'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg'
}

# Runs apt-get with the private configuration; on failure the reason becomes the one line of exit 3.
private_apt() { # work-folder arguments...
  local work=$1 reason; shift
  if ! (cd "$work/debs" && timeout 300 apt-get -q -c "$work/apt.conf" "$@") >"$work/log" 2>&1 </dev/null; then
    reason=$(grep -m1 '^[EW]:' "$work/log" || tail -n 1 "$work/log")
    unavailable "apt-get $1 for $suite failed (${reason:-no message}); check network, apt mirror and proxy, or copy the folder $cache from a machine that has it"
  fi
}

fill_cache() {
  local work tool id codename deb tls_groups
  for tool in apt-get apt-config dpkg dpkg-deb awk sed timeout; do
    command -v "$tool" >/dev/null || unavailable "$tool is missing; run on Debian 12 or 13"
  done
  id=$(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null) || true
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null) || true
  [[ $id == debian ]] || unavailable "this is ${id:-an unknown system}, not Debian; run on Debian 12 or 13, or use your own nginx with OpenSSL 3.5"
  if ! { mkdir -p "$(dirname "$cache")" && work=$(mktemp -d "$cache.XXXXXX"); } 2>/dev/null; then
    unavailable "cannot write $cache; set NGINX_LOCAL_CACHE to a folder you may create"
  fi
  # shellcheck disable=SC2064  # the value of now is meant
  trap "rm -rf -- $(printf %q "$work")" EXIT
  mkdir -p "$work"/{debs,lists/partial,archives/partial,new/root}
  : >"$work/status"
  private_source "${codename:-none}" "$arch" >"$work/debian.sources"
  # Read by apt after the host's own configuration, whose proxy, certificate and login settings thus
  # stay. Hooks are cleared since some of them clean or index the HOST's folders after an update;
  # pins and the default release speak of the host's suites. No sandbox user: root's private folders
  # are closed to it.
  cat >"$work/apt.conf" <<CONF
Dir::Etc::sourcelist "$work/debian.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Log "$work";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Update::Error-Mode "any";
APT::Default-Release "$suite";
APT::Sandbox::User "root";
Acquire::Retries "1";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
CONF
  say "fetching nginx and OpenSSL from Debian $suite (once; then kept in $cache)"
  private_apt "$work" update
  private_apt "$work" download "${packages[@]}"
  for deb in "$work"/debs/*.deb; do
    dpkg-deb -x "$deb" "$work/new/root" || die "cannot unpack ${deb##*/}"
    dpkg-deb -W "$deb" >>"$work/new/packages"
  done
  # An archive snapshot from before the release of trixie may still hold an older OpenSSL.
  tls_groups=$(run "$work/new/root" openssl list -tls-groups 2>&1) ||
    unavailable "the downloaded OpenSSL does not run here (${tls_groups%%$'\n'*}); if it is too old, use a current Debian mirror"
  [[ $tls_groups == *X25519MLKEM768* ]] || unavailable "the OpenSSL of the mirror's $suite has no X25519MLKEM768; use a current Debian mirror"
  chmod 755 "$work/new"
  # The rename makes the folder appear whole or not at all; another start may have been faster.
  mv -T "$work/new" "$cache" 2>/dev/null || [[ -f $cache/packages ]] || die "cannot put the packages into $cache (in the way? remove it)"
}

# Runs a downloaded program with its own loader and libraries, and without the host's OpenSSL
# configuration and library cache.
run() { # root program arguments...
  local root=$1 program=$2 file; shift 2
  file=$root/usr/bin/$program
  [[ -x $file ]] || file=$root/usr/sbin/$program
  OPENSSL_CONF=/dev/null "$root/usr/lib/$triplet/$loader" --inhibit-cache \
    --library-path "$root/usr/lib/$triplet:$root/lib/$triplet" "$file" "$@"
}

# --- The configuration ---------------------------------------------------------------------------

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Asking first is needed: with reuseport, two nginx of one user can bind the same port silently.
# Below 32768, so that the many client ports of a benchmark do not get in the way.
free_port() {
  local port
  while port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000)); do
    [[ " $* " == *" $port "* ]] || listens "$port" || break
  done
  echo "$port"
}

make_files() {
  local size
  mkdir -p "$dir/tmp" "$dir/www/payload"
  for size in 100B:100 1K:1024 10K:10240 100K:102400 1M:1048576; do
    head -c "${size#*:}" /dev/zero >"$dir/www/payload/${size%:*}"
  done
  cat >"$dir/locations.conf" <<CONF
location = / { return 200 "OK\n"; }
location = /negotiated { return 200 "\$ssl_protocol \$ssl_cipher \$ssl_curve \$ssl_session_reused\n"; }
location /payload/ { default_type application/octet-stream; root "$dir/www"; }
location / { return 404; }
CONF
  [[ -s $dir/cert.pem && -s $dir/key.pem ]] && return
  printf '%s\n' '[req]' 'distinguished_name=dn' '[dn]' >"$dir/req.conf"
  (umask 077 && run "$cache/root" openssl req -x509 -config "$dir/req.conf" -newkey ec -pkeyopt ec_paramgen_curve:P-256 \
    -nodes -days 3650 -subj /CN=server.example -addext 'subjectAltName=DNS:server.example,DNS:localhost,IP:127.0.0.1' \
    -keyout "$dir/key.pem" -out "$dir/cert.pem" 2>"$dir/start.log") || die "cannot make the certificate: $(tail -n 1 "$dir/start.log")"
  chmod 644 "$dir/cert.pem"
}

make_config() { # main-port tls12-port tickets-port p256-port keepalive-port
  local text nofile user=''
  # One descriptor per connection and one more while a payload file is read. Root may raise the hard
  # limit in some places; try rather than guess.
  nofile=65536
  (ulimit -n "$nofile") 2>/dev/null || nofile=$(ulimit -Hn)
  # Root's nginx would drop to www-data, which cannot read a private folder (and may not exist).
  if ((EUID == 0)); then user='user root;'; fi
  text=$(<"$here/local.conf.template")
  text=${text//@USER_DIRECTIVE@/"$user"}
  text=${text//@WORKERS@/"$workers"}
  text=${text//@NOFILE@/"$nofile"}
  text=${text//@CONNECTIONS@/"$((nofile > 32768 ? 32768 : nofile))"}
  text=${text//@GROUPS@/"$groups"}
  text=${text//@PORT_MAIN@/"$1"}
  text=${text//@PORT_TLS12@/"$2"}
  text=${text//@PORT_TICKETS@/"$3"}
  text=${text//@PORT_P256@/"$4"}
  text=${text//@PORT_KEEPALIVE@/"$5"}
  text=${text//@DIR@/"$dir"}
  printf '%s\n' "$text" >"$conf"
  printf '%s\n' "target=127.0.0.1:$1" "access_log=$dir/access.log" "tls12=127.0.0.1:$2" \
    "tickets=127.0.0.1:$3" "p256=127.0.0.1:$4" "keepalive=127.0.0.1:$5" >"$dir/endpoints"
}

# --- Commands ------------------------------------------------------------------------------------

launch() (
  # The daemon must not keep anything of the caller open (a pipe would never end, a lock never be
  # free), so close every inherited descriptor; 255 is bash's own and closes itself.
  for fd in "/proc/$BASHPID/fd"/*; do
    fd=${fd##*/}
    if ((fd > 2 && fd != 255)); then eval "exec $fd>&-"; fi
  done
  cd "$dir" # ours() looks for this
  run "$cache/root" nginx -p "$dir" -e "$dir/error.log" -c "$conf" </dev/null >"$dir/start.log" 2>&1
)

start() {
  local pid port tls12 tickets p256 keepalive attempt i
  [[ ${NGINX_LOCAL_PORT:-1} =~ ^[1-9][0-9]{0,4}$ ]] || die "NGINX_LOCAL_PORT is not a port: $NGINX_LOCAL_PORT"
  workers=${NGINX_LOCAL_WORKERS:-1}
  [[ $workers =~ ^([1-9][0-9]*|auto)$ ]] || die "NGINX_LOCAL_WORKERS is not a number: $workers"
  groups=${NGINX_LOCAL_GROUPS:-X25519MLKEM768:X25519:prime256v1:secp384r1}
  [[ $groups =~ ^[A-Za-z0-9_:*?/.-]+$ ]] || die "NGINX_LOCAL_GROUPS is not a list of groups: $groups"
  # These paths end up in an nginx configuration and a library path.
  [[ $dir$cache =~ ^[A-Za-z0-9_./+,@%~\ -]+$ ]] || die "unusual characters in $dir or $cache; set NGINX_LOCAL_DIR and NGINX_LOCAL_CACHE"
  if ! mkdir -p "$dir" 2>/dev/null || [[ ! -w $dir ]]; then die "cannot write $dir; set NGINX_LOCAL_DIR"; fi
  # Two starts at once (parallel test modules) become one start and one "runs already".
  exec {lock}>"$dir/lock"
  flock "$lock"
  if pid=$(running_pid); then say "runs already"; print_endpoints "$pid"; return; fi
  if lost_pid >/dev/null; then stop; fi

  [[ -f $cache/packages ]] || fill_cache
  make_files
  for attempt in 1 2 3; do
    port=${NGINX_LOCAL_PORT:-$(free_port)}
    if listens "$port"; then die "port $port is in use; choose another NGINX_LOCAL_PORT or leave it unset"; fi
    tls12=$(free_port "$port") tickets=$(free_port "$port" "$tls12") p256=$(free_port "$port" "$tls12" "$tickets")
    keepalive=$(free_port "$port" "$tls12" "$tickets" "$p256")
    make_config "$port" "$tls12" "$tickets" "$p256" "$keepalive"
    rm -f "$dir/access.log" "$dir/error.log" "$dir/nginx.pid" # each start counts from zero
    if launch; then
      # The sockets are open by now; the daemon writes its pid file a moment later.
      for ((i = 0; i < 100; i++)); do
        if pid=$(running_pid); then print_endpoints "$pid"; return; fi
        sleep 0.05
      done
      die "nginx did not stay up; see $dir/error.log"
    fi
    # Only a port that was taken since we looked deserves another try.
    grep -q 'Address already in use' "$dir/start.log" || break
  done
  die "nginx did not start (try $attempt): $(head -n 1 "$dir/start.log")"
}

stop() {
  local pid i
  pid=$(running_pid || lost_pid) || { say "not running"; return; }
  kill -TERM "$pid" || die "may not end process $pid"
  for ((i = 0; i < 200; i++)); do
    if ! ours "$pid"; then say "stopped $pid"; return; fi
    sleep 0.05
  done
  die "process $pid did not end within 10 s"
}

case $#:${1:-} in 1:start | 1:stop | 1:status) ;; *) echo 'usage: local.sh start|stop|status' >&2; exit 2 ;; esac
[[ -d /proc/self/fd ]] || unavailable "no /proc here; run on Debian 12 or 13"

case $1 in
  stop) stop ;;
  status) pid=$(running_pid) || { say "not running"; exit 1; }; print_endpoints "$pid" ;;
  start)
    command -v dpkg >/dev/null || unavailable "dpkg is missing; run on Debian 12 or 13"
    arch=$(dpkg --print-architecture)
    case $arch in
      amd64) triplet=x86_64-linux-gnu loader=ld-linux-x86-64.so.2 ;;
      arm64) triplet=aarch64-linux-gnu loader=ld-linux-aarch64.so.1 ;;
      *) unavailable "architecture $arch is not known to this script; run on amd64 or arm64" ;;
    esac
    cache=$(realpath -m -- "${NGINX_LOCAL_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/pqcbench/nginx-$arch}")
    start
    ;;
esac
