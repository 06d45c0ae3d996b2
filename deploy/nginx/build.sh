#!/usr/bin/env bash
# nginx from source against OpenSSL 3.5 from source, with certificates, configuration and systemd unit, and a proof at
# the end that X25519MLKEM768 and ML-DSA-65 work. For Ubuntu 24.04, Debian 12 and 13, on x86-64 and aarch64.
#
# nginx loads this OpenSSL and no other: what is measured is the version that was asked for, whatever the system has. A load
# generator on the same machine can load it too: loadgen --tls-stack openssl --openssl-lib PREFIX/openssl/lib
set -euo pipefail
# What is installed is read by nginx's own user, whatever root's umask is; keys are closed by certs.sh.
umask 022

prefix=/opt/pqcbench-nginx
openssl_version=3.5.0
nginx_version=1.28.0
ports=443,444,445,446,447
groups=X25519MLKEM768:X25519

# Of the files as published. Each was compared with the file itself, or with several packagers who took it over.
declare -A published=(
  [openssl-3.5.0]=344d0a79f1a9b08029b0744e2cc401a43f9c90acd1044d09a530b4885a8e9fc0
  [openssl-3.5.7]=a8c0d28a529ca480f9f36cf5792e2cd21984552a3c8e4aa11a24aa31aeac98e8
  [nginx-1.28.0]=c6b5c6b086c0df9d3ca3ff5e084c1d0ef909e6038279c71c1c3e985f576ff76a
)

usage() {
  cat <<TEXT
usage: build.sh [options]
  --prefix DIR             where all of it goes; default: $prefix
  --openssl VERSION        default: $openssl_version
  --openssl-sha256 HEX     of its tarball; needed for versions that are not in the list below
  --openssl-tarball FILE   use this file instead of downloading; its SHA-256 is checked all the same
  --nginx VERSION          default: $nginx_version
  --nginx-sha256 HEX, --nginx-tarball FILE
                           the same for nginx
  --jobs N                 compilers at once; default: as many as there are processors
  --no-packages            install no packages for the build; default: by apt, as root, if any are missing
  --rebuild                compile again what was built with the same versions and options

  --groups LIST            groups that nginx accepts, in OpenSSL's syntax; default: $groups
  --ports A,B,C,D,E        full handshakes, tickets, ML-DSA-65, RSA-2048, ML-DSA-65 with an intermediate; default: $ports
  --address ADDRESS        IPv4 address to listen on; default: all
  --name NAME              in the certificates, repeatable; new ones are made if those there have other names; default: server.example localhost 127.0.0.1
  --chain                  serve certificates with an intermediate on all ports; default: self-signed ones but on the last
  --access-log             log every request; default: none
  --systemd, --no-systemd  install a unit with a user of its own, or leave that; default: as root, where systemd runs
  --loadgen FILE           load generator for the proof at the end; default: the one of this checkout, if it is built

With published SHA-256: $(printf '%s\n' "${!published[@]}" | sort | tr '\n' ' ')
Nothing is downloaded when both tarballs are given and the packages are there: gcc libc6-dev libpcre2-dev make perl

Exit: 0 built and proven, 1 error, 2 usage.
TEXT
}
say() { printf 'build.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
wrong() { say "$*; see --help"; exit 2; }

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

declare -A tarball=() sha256=()
jobs=$(nproc) packages=yes rebuild='' address='' suffix='' access_log='' systemd='' loadgen=''
names=()
while (($# > 0)); do
  case $1 in
    --prefix | --openssl | --openssl-sha256 | --openssl-tarball | --nginx | --nginx-sha256 | --nginx-tarball | --jobs | \
      --groups | --ports | --address | --name | --loadgen) (($# > 1)) || wrong "$1 needs a value" ;;&
    --prefix) prefix=$2; shift 2 ;;
    --openssl) openssl_version=$2; shift 2 ;;
    --nginx) nginx_version=$2; shift 2 ;;
    --openssl-sha256 | --nginx-sha256) name=${1#--}; sha256[${name%-*}]=${2,,}; shift 2 ;;
    --openssl-tarball | --nginx-tarball) name=${1#--}; tarball[${name%-*}]=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --no-packages) packages=''; shift ;;
    --rebuild) rebuild=yes; shift ;;
    --groups) groups=$2; shift 2 ;;
    --ports) ports=$2; shift 2 ;;
    --address) address=$2; shift 2 ;;
    --name) names+=(--name "$2"); shift 2 ;;
    --chain) suffix=-chain; shift ;;
    --access-log) access_log=yes; shift ;;
    --systemd) systemd=yes; shift ;;
    --no-systemd) systemd=no; shift ;;
    --loadgen) loadgen=$2; shift 2 ;;
    --help) usage; exit ;;
    *) wrong "unknown option: $1" ;;
  esac
done

[[ $prefix =~ ^/[A-Za-z0-9_./+,-]+$ && $prefix != *..* ]] || wrong "not an absolute path of plain characters: prefix=$prefix"
prefix=${prefix%/}
[[ $jobs =~ ^[1-9][0-9]{0,3}$ ]] || wrong "not a number of compilers: jobs=$jobs"
[[ $groups =~ ^[A-Za-z0-9_:*?/.-]+$ ]] || wrong "not a list of groups: groups=$groups"
[[ $ports =~ ^[1-9][0-9]{0,4}(,[1-9][0-9]{0,4}){4}$ ]] || wrong "not five ports: ports=$ports"
IFS=, read -r -a port <<<"$ports"
for number in "${port[@]}"; do ((number <= 65535)) || wrong "not a port: port=$number, limit 65535"; done
[[ -z $address || $address =~ ^([0-9]{1,3}\.){3}[0-9]{1,3}$ ]] || wrong "not an IPv4 address: address=$address"

for part in openssl nginx; do
  version=${part}_version
  version=${!version}
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || wrong "not a version such as 3.5.0: $part=$version"
  : "${sha256[$part]:=${published[$part-$version]:-}}"
  [[ -n ${sha256[$part]} ]] ||
    wrong "no SHA-256 is known for $part-$version.tar.gz: give --$part-sha256, from the page or the signed list that published the file"
  [[ ${sha256[$part]} =~ ^[0-9a-f]{64}$ ]] || wrong "not 64 hexadecimal digits: $part-sha256=${sha256[$part]}"
  if [[ -n ${tarball[$part]:-} && ! -r ${tarball[$part]} ]]; then wrong "cannot be read: $part-tarball=${tarball[$part]}"; fi
done
IFS=. read -r major minor _ <<<"$openssl_version"
((major > 3 || major == 3 && minor >= 5)) ||
  wrong "OpenSSL $openssl_version has neither ML-KEM nor ML-DSA, limit 3.5.0: openssl=$openssl_version"

machine=$(uname -m)
case $machine in x86_64 | aarch64) ;; *) die "this is for x86_64 and aarch64: machine=$machine" ;; esac

if [[ -z $systemd ]]; then
  systemd=no
  if ((EUID == 0)) && [[ -d /run/systemd/system ]]; then systemd=yes; fi
fi
user=pqcbench-nginx
if [[ $systemd == yes ]]; then
  ((EUID == 0)) || die "a unit and a user need root: --no-systemd, or run as root"
  # The unit closes these to nginx.
  case $prefix/ in /home/* | /root/* | /tmp/* | /var/tmp/* | /run/user/*)
    wrong "the unit cannot see this folder (ProtectHome, PrivateTmp): prefix=$prefix; take one as /opt/NAME, or --no-systemd" ;;
  esac
fi
if ! mkdir -p "$prefix" 2>/dev/null || [[ ! -w $prefix ]]; then
  die "cannot write prefix=$prefix: run as root, or --prefix with a folder of yours"
fi

# --- Sources -------------------------------------------------------------------------------------

# Sees to it that packages are there; by apt only as root and where their names are known.
need() { # packages...
  local system
  (($# > 0)) || return 0
  system=$(sed -n 's/^ID=//p; s/^VERSION_ID=//p' /etc/os-release 2>/dev/null | tr -d '"' | sort -r | tr '\n' ' ') || system=''
  case $system in
    'ubuntu 24.04 ' | 'debian 12 ' | 'debian 13 ') ;;
    *) die "missing for the build: $*; packages are installed on Ubuntu 24.04, Debian 12 and 13 only, and this is ${system:-unknown}" ;;
  esac
  if [[ -z $packages ]] || ((EUID != 0)); then die "missing for the build, as root: apt-get install $*"; fi
  say "installing $*"
  # A machine that has just booted may be updating itself. apt waits for one of its locks, and gives up at the others.
  for ((i = 0; i < 30; i++)); do
    if apt-get update -qq; then break; fi
    say "apt-get update failed, again in 10 s"
    sleep 10
  done
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" >&2
}

work=$prefix/build
mkdir -p "$work"

# Sees to it that the tarball of a part is there, and that it is the published one.
fetch() { # part version url
  local file=${tarball[$1]:-} sum
  if [[ -z $file ]]; then
    file=$work/$1-$2.tar.gz
    if [[ ! -s $file ]]; then
      command -v curl >/dev/null || need curl ca-certificates
      say "downloading $3"
      curl -fsSL --retry 3 --proto =https --connect-timeout 20 -o "$file.part" "$3" ||
        die "cannot download url=$3: fetch it elsewhere and give --$1-tarball FILE"
      mv "$file.part" "$file"
    fi
    tarball[$1]=$file
  fi
  sum=$(sha256sum <"$file")
  sum=${sum%% *}
  [[ $sum == "${sha256[$1]}" ]] ||
    die "SHA-256 of $file is sha256=$sum, expected ${sha256[$1]}: another version, or not the published file; nothing of it was unpacked"
}

unpack() { # part
  rm -rf "${work:?}/$1"
  mkdir "$work/$1"
  tar -xzf "${tarball[$1]}" -C "$work/$1" --strip-components=1 --no-same-owner
}

quietly() { # log command...
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { tail -n 15 "$log" >&2; die "failed: $*; see $log"; }
}

openssl=$prefix/openssl/bin/openssl
openssl_options=("--prefix=$prefix/openssl" "--openssldir=$prefix/openssl/ssl" --libdir=lib no-tests no-docs
  "-Wl,-rpath,$prefix/openssl/lib")
nginx_options=("--prefix=$prefix" "--sbin-path=$prefix/sbin/nginx" "--conf-path=$prefix/etc/nginx.conf"
  --error-log-path=stderr "--pid-path=$prefix/run/nginx.pid" --with-http_ssl_module --without-http_gzip_module
  "--with-cc-opt=-O2 -I$prefix/openssl/include" "--with-ld-opt=-L$prefix/openssl/lib -Wl,-rpath,$prefix/openssl/lib")

# A part is built again when anything that went into it is another. nginx is made for its OpenSSL, so that goes into it too.
openssl_of="${sha256[openssl]} ${openssl_options[*]} $machine"
nginx_of="${sha256[nginx]} ${nginx_options[*]} $openssl_of"
built() { [[ -z $rebuild && -x $2 && -r $prefix/.$1 && $(<"$prefix/.$1") == "$3" ]]; } # part program made-of

todo=()
if built openssl "$openssl" "$openssl_of"; then say "OpenSSL $openssl_version is there already"; else
  todo+=(openssl)
  fetch openssl "$openssl_version" \
    "https://github.com/openssl/openssl/releases/download/openssl-$openssl_version/openssl-$openssl_version.tar.gz"
fi
if built nginx "$prefix/sbin/nginx" "$nginx_of"; then say "nginx $nginx_version is there already"; else
  todo+=(nginx)
  fetch nginx "$nginx_version" "https://nginx.org/download/nginx-$nginx_version.tar.gz"
fi

# --- Compile -------------------------------------------------------------------------------------

if ((${#todo[@]} > 0)); then
  missing=()
  for tool in gcc make perl; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  # perl is more than perl-base: OpenSSL's Configure needs modules of it.
  if command -v perl >/dev/null && ! perl -MIPC::Cmd -MFindBin -e1 2>/dev/null; then missing+=(perl); fi
  [[ -e /usr/include/stdio.h ]] || missing+=(libc6-dev)
  # nginx's "return", which answers / and /negotiated, comes only with regular expressions.
  [[ -e /usr/include/pcre2.h ]] || missing+=(libpcre2-dev)
  need "${missing[@]}"
fi

if [[ " ${todo[*]} " == *' openssl '* ]]; then
  unpack openssl
  say "compiling OpenSSL $openssl_version with $jobs jobs (several minutes), log: $work/openssl.log"
  (
    cd "$work/openssl"
    quietly "$work/openssl.log" ./Configure "${openssl_options[@]}"
    quietly "$work/openssl.log" make -j "$jobs" build_sw
    quietly "$work/openssl.log" make install_sw install_ssldirs
  )
  printf '%s\n' "$openssl_of" >"$prefix/.openssl"
  rm -rf "$work/openssl"
fi
found=$("$openssl" version)
[[ $found == "OpenSSL $openssl_version "* ]] || die "the tarball held another version: $found, expected $openssl_version"

if [[ " ${todo[*]} " == *' nginx '* ]]; then
  unpack nginx
  say "compiling nginx $nginx_version, log: $work/nginx.log"
  (
    cd "$work/nginx"
    quietly "$work/nginx.log" ./configure "${nginx_options[@]}"
    quietly "$work/nginx.log" make -j "$jobs"
    # "make install" would put its own configuration and pages beside ours.
    mkdir -p "$prefix/sbin"
    install -m 755 objs/nginx "$prefix/sbin/nginx.new"
    mv "$prefix/sbin/nginx.new" "$prefix/sbin/nginx"
  )
  printf '%s\n' "$nginx_of" >"$prefix/.nginx"
  rm -rf "$work/nginx"
fi
found=$("$prefix/sbin/nginx" -V 2>&1)
[[ $found == "nginx version: nginx/$nginx_version"* && $found == *"built with OpenSSL $openssl_version "* ]] ||
  die "nginx is not what was asked for: ${found%%configure*}"

# --- Configure -----------------------------------------------------------------------------------

"$here/certs.sh" --out "$prefix/certs" --openssl "$openssl" "${names[@]}"
make_payloads "$prefix/www"
mkdir -p "$prefix/etc/servers"
install -m 644 "$here/locations.conf" "$prefix/etc/locations.conf"

run=$prefix/run logs=$prefix/logs errors="\"$prefix/logs/error.log\"" user_directive='' limit=$(descriptors)
if [[ $systemd == yes ]]; then
  getent passwd "$user" >/dev/null ||
    useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$user"
  # The unit's limit, not this shell's; and its errors go to the journal.
  run=/run/$user logs=/var/log/$user errors=stderr limit=65536
  chgrp -R "$user" "$prefix/certs"
  chmod 750 "$prefix/certs"
  chmod 640 "$prefix"/certs/*.key
else
  mkdir -p "$run" "$logs"
  if ((EUID == 0)); then user_directive='user root;'; fi
fi

config() { # run-folder log-folder error-log address port port port port port
  local on=${4:+$4:} log=(off off off off off)
  if [[ -n $access_log ]]; then
    log=()
    for name in main tickets mldsa65 rsa2048 mldsa65-chain; do log+=("\"$2/$name.log\" bench buffer=256k flush=1s"); done
  fi
  render "$here/nginx.conf.template" "USER_DIRECTIVE=$user_directive" WORKERS=auto "NOFILE=$limit" \
    "CONNECTIONS=$((limit > 32768 ? 32768 : limit))" "GROUPS=$groups" "RUN=$1" "ERROR_LOG=$3" "WWW=$prefix/www" \
    "CERTS=$prefix/certs" "CERT_P256=p256$suffix" "CERT_MLDSA65=mldsa65$suffix" "CERT_RSA2048=rsa2048$suffix" \
    "LISTEN_MAIN=$on$5" "LISTEN_TICKETS=$on$6" "LISTEN_MLDSA=$on$7" "LISTEN_RSA=$on$8" \
    "LISTEN_CHAIN=$on$9" "LOG_MAIN=${log[0]}" "LOG_TICKETS=${log[1]}" "LOG_MLDSA=${log[2]}" "LOG_RSA=${log[3]}" "LOG_CHAIN=${log[4]}"
}

config "$run" "$logs" "$errors" "$address" "${port[@]}" >"$prefix/etc/nginx.conf.new"

# --- Prove ---------------------------------------------------------------------------------------

# On free ports and beside whatever runs, with the binary, certificates and user of the installation.
proof=$(mktemp -d)
server=''
# shellcheck disable=SC2317  # called by the trap
end_proof() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf -- "$proof"
}
trap end_proof EXIT
mkdir "$proof/servers"
cp "$prefix/etc/locations.conf" "$proof/"
test_port=()
while ((${#test_port[@]} < 5)); do test_port+=("$(free_port "${test_port[@]}")"); done
config "$proof" "$proof" stderr 127.0.0.1 "${test_port[@]}" >"$proof/nginx.conf"
as=()
if [[ $systemd == yes ]]; then
  chown -R "$user" "$proof"
  as=(setpriv --reuid "$user" --regid "$user" --init-groups --no-new-privs)
fi
"${as[@]}" "$prefix/sbin/nginx" -p "$proof" -c "$proof/nginx.conf" -g 'daemon off;' 2>"$proof/stderr" &
server=$!
for ((i = 0; i < 100; i++)); do
  if listens "${test_port[0]}"; then break; fi
  kill -0 "$server" 2>/dev/null || die "nginx does not start: $(head -n 1 "$proof/stderr")"
  sleep 0.1
done
if [[ -z $loadgen && -f $here/../../loadgen/target/loadgen.jar ]]; then loadgen=$here/../../loadgen/bin/loadgen; fi
if [[ -z $loadgen ]]; then say "no loadgen is built here, so OpenSSL alone is asked (--loadgen FILE asks it too)"; fi
proof_ports=$(IFS=,; echo "${test_port[*]}")
"$here/prove.sh" --host 127.0.0.1 --ports "$proof_ports" --openssl "$openssl" ${loadgen:+--loadgen "$loadgen"} ||
  die "built, but not as it should be; nothing was started. nginx said: $(tail -n 3 "$proof/stderr")"
kill "$server"
wait "$server" || true
server=''

# --- Install -------------------------------------------------------------------------------------

if [[ -s $prefix/etc/nginx.conf ]] && ! cmp -s "$prefix/etc/nginx.conf" "$prefix/etc/nginx.conf.new"; then
  mv "$prefix/etc/nginx.conf" "$prefix/etc/nginx.conf.old"
  say "the configuration before this one is now $prefix/etc/nginx.conf.old"
fi
mv "$prefix/etc/nginx.conf.new" "$prefix/etc/nginx.conf"

{
  printf '%s\n' "openssl=$openssl_version ${sha256[openssl]}" "nginx=$nginx_version ${sha256[nginx]}" \
    "machine=$machine" "system=$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release | tr -d '"')" "compiler=$(gcc --version 2>/dev/null | head -n 1)"
} >"$prefix/build-info"

if [[ $systemd == yes ]]; then
  render "$here/pqcbench-nginx.service.template" "PREFIX=$prefix" "USER=$user" >/etc/systemd/system/pqcbench-nginx.service
  if [[ -d /run/systemd/system ]]; then
    systemctl daemon-reload
    systemctl enable --quiet pqcbench-nginx
    systemctl restart pqcbench-nginx
    say "runs as pqcbench-nginx.service, ports $ports"
  else
    say "unit installed; systemd does not run here: systemctl enable --now pqcbench-nginx, once it does"
  fi
else
  say "start: $prefix/sbin/nginx    stop: $prefix/sbin/nginx -s quit    ports $ports"
fi
