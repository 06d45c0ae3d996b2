#!/usr/bin/env bash
# Certificates for the five listeners: P-256, RSA-2048 and ML-DSA-65, each self-signed and as a chain with an
# intermediate. Nothing here is secret or lasting: the keys are made on the machine that uses them, and those of the
# authorities are thrown away once they have signed.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: certs.sh --out DIR [options]
  --out DIR        folder for the files, made if it is missing
  --name NAME      name or IP address in the certificates; repeatable
                   default: server.example localhost 127.0.0.1
  --days N         how long they are valid, 1 to 3650; default 397
  --openssl FILE   OpenSSL 3.5 or newer; default: the one on the PATH
  --force          replace certificates that are there; default: keep them while they are valid and have these names
  --help           this text

For each of p256, rsa2048 and mldsa65:
  NAME.pem, NAME.key               self-signed certificate and its key
  NAME-chain.pem, NAME-chain.key   server's certificate, then the intermediate's; the server's key
  NAME-root.pem                    the chain's root, for the client's --cacert

Exit: 0 fine, 1 error, 2 usage.
TEXT
}
say() { printf 'certs.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
wrong() { say "$*; see --help"; exit 2; }

out='' openssl=openssl days=397 force=''
names=()
while (($# > 0)); do
  case $1 in
    --out | --name | --days | --openssl) (($# > 1)) || wrong "$1 needs a value" ;;&
    --out) out=$2; shift 2 ;;
    --name) names+=("$2"); shift 2 ;;
    --days) days=$2; shift 2 ;;
    --openssl) openssl=$2; shift 2 ;;
    --force) force=yes; shift ;;
    --help) usage; exit ;;
    *) wrong "unknown option: $1" ;;
  esac
done
[[ -n $out ]] || wrong "--out is missing"
if [[ ! $days =~ ^[1-9][0-9]{0,3}$ ]] || ((days > 3650)); then
  wrong "not a number of days from 1 to 3650: days=$days"
fi
((${#names[@]} > 0)) || names=(server.example localhost 127.0.0.1)
alt=''
for name in "${names[@]}"; do
  # They go into a configuration file of OpenSSL.
  [[ $name =~ ^[A-Za-z0-9.:*_-]+$ ]] || wrong "neither a host name nor an address: name=$name"
  if [[ $name =~ ^[0-9.]+$ || $name == *:* ]]; then alt+=",IP:$name"; else alt+=",DNS:$name"; fi
done

command -v "$openssl" >/dev/null || die "there is no such program: openssl=$openssl; build.sh builds one"
algorithms=$("$openssl" list -public-key-algorithms 2>&1) || die "openssl=$openssl does not run: ${algorithms%%$'\n'*}"
[[ $algorithms == *ML-DSA-65* ]] ||
  die "no ML-DSA-65 in openssl=$openssl ($("$openssl" version)), it came with OpenSSL 3.5.0: give the one that build.sh built, PREFIX/openssl/bin/openssl"

# Are all files of a kind there, valid for a day at least, and made for these names?
there() { # kind
  local file name
  for file in "$1".{key,pem} "$1"-chain.{key,pem} "$1"-root.pem; do
    [[ -s $out/$file ]] || return 1
    [[ $file == *.key ]] || "$openssl" x509 -in "$out/$file" -noout -checkend 86400 >/dev/null 2>&1 || return 1
  done
  for file in "$1.pem" "$1-chain.pem"; do
    for name in "${names[@]}"; do named "$out/$file" "$name" || return 1; done
  done
}

# OpenSSL 3.5 says whether a name matches, and ends with 0 either way.
named() { # file name
  local check=-checkhost
  if [[ $2 =~ ^[0-9.]+$ || $2 == *:* ]]; then check=-checkip; fi
  # A wildcard is not a host name to look for: one that it stands for is.
  [[ $("$openssl" x509 -in "$1" -noout "$check" "${2/#\*/any}" 2>/dev/null) == *' does match certificate'* ]]
}

kinds=()
for kind in p256 rsa2048 mldsa65; do
  if [[ -z $force ]] && there "$kind"; then
    say "kept $out/$kind.pem and its chain (--force replaces them)"
  else
    kinds+=("$kind")
  fi
done
((${#kinds[@]} > 0)) || exit 0

umask 077
mkdir -p "$out"
# Beside its destination, so that the moves at the end are renames: nobody reads half a file.
work=$(mktemp -d "$out/.new.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
cat >"$work/conf" <<CONF
[req]
distinguished_name = dn
[dn]
[server]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = ${alt#,}
[root]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
[intermediate]
basicConstraints = critical,CA:TRUE,pathlen:0
keyUsage = critical,keyCertSign,cRLSign
CONF

run() {
  "$openssl" "$@" >"$work/log" 2>&1 || die "openssl $1 failed: $(grep -m1 -i error "$work/log" || tail -n 1 "$work/log")"
}

key() { # kind file
  case $1 in
    p256) run genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$2" ;;
    rsa2048) run genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$2" ;;
    mldsa65) run genpkey -algorithm ML-DSA-65 -out "$2" ;;
  esac
}

# Signs key file $3 as $2; by itself, or by the certificate and key with the name $4.
certificate() { # extensions common-name file [issuer]
  local by=()
  if (($# > 3)); then by=(-CA "$4.pem" -CAkey "$4.key"); fi
  run req -x509 -new -config "$work/conf" -extensions "$1" -subj "/CN=$2" -days "$days" \
    -key "$3.key" -out "$3.pem" "${by[@]}"
}

for kind in "${kinds[@]}"; do
  made=$work/$kind
  for file in "$kind" "$kind-chain" "$kind-root" "$kind-intermediate"; do key "$kind" "$work/$file.key"; done
  certificate server "${names[0]}" "$made"
  certificate root "pqcbench $kind root" "$made-root"
  certificate intermediate "pqcbench $kind intermediate" "$made-intermediate" "$made-root"
  certificate server "${names[0]}" "$made-chain" "$made-intermediate"
  run verify -x509_strict -CAfile "$made-root.pem" -untrusted "$made-intermediate.pem" "$made-chain.pem"
  cat "$made-intermediate.pem" >>"$made-chain.pem"
  rm "$made-root.key" "$made-intermediate.key" "$made-intermediate.pem"
done

chmod 644 "$work"/*.pem
mv -f "$work"/*.key "$work"/*.pem "$out/"
for kind in "${kinds[@]}"; do
  for file in "$out/$kind.pem" "$out/$kind-chain.pem"; do
    # What the client has to receive: base64 without the lines around it, as bytes.
    bytes=$(sed '/^-/d' "$file" | base64 -d | wc -c)
    say "$file, $(grep -c BEGIN "$file") certificates, $bytes bytes"
  done
done
