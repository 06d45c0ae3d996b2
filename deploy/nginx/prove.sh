#!/usr/bin/env bash
# Asks the five listeners of nginx.conf.template whether they do what they are there for, and prints what they answered.
# build.sh ends with it, the tests run it, and it can be run against a server at any time.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: prove.sh [options]
  --host HOST        default: 127.0.0.1
  --ports A,B,C,D,E  ports of the listeners: full handshakes, tickets, ML-DSA-65, RSA-2048, ML-DSA-65 with an intermediate;
                     default: 443,444,445,446,447
  --openssl FILE     OpenSSL 3.5 or newer; default: the one on the PATH
  --loadgen FILE     the load generator, which then probes the listeners as well
  --help             this text

Exit: 0 all is as configured, 1 something is not (each line with FAILED says what), 2 usage.
TEXT
}
say() { printf 'prove.sh: %s\n' "$*" >&2; }
wrong() { say "$*; see --help"; exit 2; }

host=127.0.0.1 ports=443,444,445,446,447 openssl=openssl loadgen=''
while (($# > 0)); do
  case $1 in
    --host | --ports | --openssl | --loadgen) (($# > 1)) || wrong "$1 needs a value" ;;&
    --host) host=$2; shift 2 ;;
    --ports) ports=$2; shift 2 ;;
    --openssl) openssl=$2; shift 2 ;;
    --loadgen) loadgen=$2; shift 2 ;;
    --help) usage; exit ;;
    *) wrong "unknown option: $1" ;;
  esac
done
[[ $ports =~ ^[0-9]{1,5}(,[0-9]{1,5}){4}$ ]] || wrong "not five ports: ports=$ports"
IFS=, read -r main tickets mldsa rsa chain <<<"$ports"
command -v "$openssl" >/dev/null || { say "there is no such program: openssl=$openssl"; exit 1; }
[[ $("$openssl" list -tls-groups 2>&1) == *X25519MLKEM768* ]] ||
  { say "no X25519MLKEM768 in openssl=$openssl ($("$openssl" version 2>&1)): give one of version 3.5 or newer"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
failures=0

# One connection with one request; what the client saw and the response go to $work/seen.
connect() { # port path options...
  local port=$1 path=$2
  shift 2
  printf 'GET %s HTTP/1.1\r\nHost: server.example\r\nConnection: close\r\n\r\n' "$path" |
    timeout 10 "$openssl" s_client -connect "$host:$port" -servername server.example -ign_eof "$@" >"$work/seen" 2>&1
}

ok() { printf 'ok      %s\n' "$*"; }
failed() {
  printf 'FAILED  %s; the client saw: %s\n' "$*" \
    "$(grep -a -m1 -iE 'alert|refused|errno|:error:|Negotiated|Temp Key|HTTP/1' "$work/seen" || tail -n 1 "$work/seen")"
  failures=$((failures + 1))
}
saw() { grep -a -qE -- "$1" "$work/seen"; }

# A full handshake in one group: the group, the server's signature, the protocol, and what nginx says of it.
full() { # listener port group signature
  local name="$1 ($2): $3, $4, no session"
  if connect "$2" /negotiated -tls1_3 -groups "$3" &&
    saw "^(Negotiated TLS1.3 group: $3\$|Peer Temp Key: $3,)" && saw "^Peer signature type: $4\$" && saw '^New, TLSv1.3,' &&
    saw "^\{\"group\":\"$3\",\"cipher\":\"TLS_AES_256_GCM_SHA384\",\"protocol\":\"TLSv1.3\",\"session_reused\":false,"; then
    ok "$name; $(grep -a '^{"group"' "$work/seen")"
  else
    failed "$name"
  fi
}

# A second connection offers the session of the first.
resumption() { # listener port New|Reused
  local name="$1 ($2): offered its session again: $3" reused=false
  if [[ $3 == Reused ]]; then reused=true; fi
  rm -f "$work/session"
  if connect "$2" / -tls1_3 -groups X25519MLKEM768 -sess_out "$work/session" && [[ -s $work/session ]] &&
    connect "$2" /negotiated -tls1_3 -groups X25519MLKEM768 -sess_in "$work/session" &&
    saw "^$3, TLSv1.3," && saw "^\{.*\"session_reused\":$reused,"; then
    ok "$name"
  else
    failed "$name"
  fi
}

refused() { # what port alert options...
  local name="$1 ($2): refused" alert=$3 port=$2
  shift 3
  if ! connect "$port" / "$@" && saw "$alert"; then ok "$name"; else failed "$name"; fi
}

body() { # port path bytes
  local name="$2 ($1): a body of $3 bytes" start
  connect "$1" "$2" -tls1_3 -quiet -verify_quiet || true
  # The body begins behind the empty line, whose offset is in $start.
  start=$(grep -abo -m1 $'^\r$' "$work/seen" | cut -d: -f1) || start=''
  if [[ -n $start ]] && saw '^HTTP/1.1 200 ' && (($(wc -c <"$work/seen") - start - 2 == $3)); then
    ok "$name"
  else
    failed "$name"
  fi
}

probe() { # listener port group
  local name="$1 ($2): loadgen probe, $3"
  if "$loadgen" probe --json --groups "$3" --sni server.example "$host:$2/negotiated" >"$work/seen" 2>&1 </dev/null; then
    ok "$name"
  else
    failed "$name"
  fi
}

for group in X25519MLKEM768 X25519; do
  full 'full handshakes' "$main" "$group" ecdsa_secp256r1_sha256
  full tickets "$tickets" "$group" ecdsa_secp256r1_sha256
  full ML-DSA-65 "$mldsa" "$group" mldsa65
  full RSA-2048 "$rsa" "$group" rsa_pss_rsae_sha256
  full 'ML-DSA-65 with an intermediate' "$chain" "$group" mldsa65
done
name="ML-DSA-65 with an intermediate ($chain): two certificates"
if connect "$chain" / -tls1_3 && saw '^ 1 s:' && ! saw '^ 2 s:'; then ok "$name"; else failed "$name"; fi
name="full handshakes ($main): TLS_CHACHA20_POLY1305_SHA256"
if connect "$main" / -tls1_3 -ciphersuites TLS_CHACHA20_POLY1305_SHA256; then ok "$name"; else failed "$name"; fi
refused 'TLS_AES_128_GCM_SHA256' "$main" 'handshake failure' -tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256
refused 'TLS 1.2' "$main" 'protocol version' -tls1_2
resumption 'full handshakes' "$main" New
resumption tickets "$tickets" Reused
for body in /:3 /payload/100B:100 /payload/1K:1024 /payload/10K:10240 /payload/100K:102400 /payload/1M:1048576; do
  body "$main" "${body%:*}" "${body#*:}"
done
if [[ -n $loadgen ]]; then
  for group in X25519MLKEM768 X25519; do
    probe 'full handshakes' "$main" "$group"
    probe tickets "$tickets" "$group"
    probe RSA-2048 "$rsa" "$group"
  done
  # A TLS stack without ML-DSA must be told so in TLS; one that has it connects.
  name="ML-DSA-65 ($mldsa): loadgen probe connects, or is told that there is no common signature"
  if "$loadgen" probe "$host:$mldsa" >"$work/seen" 2>&1 </dev/null || saw 'alert handshake_failure'; then
    ok "$name"
  else
    failed "$name"
  fi
fi

if ((failures > 0)); then
  say "failures=$failures at $host, ports $ports"
  exit 1
fi
say "all five listeners at $host answer as configured, ports $ports"
