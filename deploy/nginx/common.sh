# shellcheck shell=bash
# What local.sh, build.sh and the tests share; sourced by them.

# Prints a template with its @NAMES@ replaced; one that is left over is an error of the caller.
render() { # template NAME=VALUE...
  local template=$1 text pair
  shift
  text=$(<"$template")
  for pair in "$@"; do text=${text//"@${pair%%=*}@"/"${pair#*=}"}; done
  if [[ $text =~ @[A-Z0-9_]+@ ]]; then
    printf '%s: no value for placeholder=%s\n' "$template" "${BASH_REMATCH[0]}" >&2
    return 1
  fi
  printf '%s\n' "$text"
}

# The bodies of /payload/. Zeros do: nothing compresses them.
make_payloads() { # folder
  local size
  mkdir -p "$1/payload"
  for size in 100B:100 1K:1024 10K:10240 100K:102400 1M:1048576; do
    head -c "${size#*:}" /dev/zero >"$1/payload/${size%:*}"
  done
}

# Descriptors for one connection each and one more while a payload file is read. Root may raise the hard limit in some
# places, so try rather than guess.
descriptors() {
  local wanted=65536
  if (ulimit -n "$wanted") 2>/dev/null; then echo "$wanted"; else ulimit -Hn; fi
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Asking first is needed: with reuseport, two nginx of one user can bind the same port silently.
# Below 32768, so that the many client ports of a benchmark do not get in the way.
free_port() { # ports already chosen...
  local port
  while port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000)); do
    [[ " $* " == *" $port "* ]] || listens "$port" || break
  done
  echo "$port"
}
