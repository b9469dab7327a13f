#!/bin/sh
# An agent in shell, written from docs/PROTOCOL.md alone, with openssl and curl: what somebody else would write. It keeps no state,
# and cannot open a delivery (openssl's command line has no AEAD); it enrols, proves and beats.
#
#   agent.sh bearer MASTER_FILE HOST LIFE              prints a heartbeat bearer (4.2, 4.3)
#   agent.sh enrol TOKEN_FILE PINNED HOST DIR          redeems a token (5), pinned to the keys in it
#   agent.sh beat MASTER_FILE LIFE HUB CA HOST SEQ DIR beats (7), over a chain that curl has verified
#
# DIR holds the wrap key, and the answer in DIR/answer.json. openssl takes keys as arguments, which every user of a machine can
# read: this is a test, and no way to do it.
set -eu

base64url() { openssl base64 -A | tr -- '+/' '-_' | tr -d '='; }

unbase64url() {
  text=$(tr -- '-_' '+/')
  while [ $((${#text} % 4)) -ne 0 ]; do text="$text="; done
  printf '%s' "$text" | openssl base64 -d -A
}

hex() { od -An -v -tx1 | tr -d ' \n'; }

# 4.2: HKDF-Expand with the master as the pseudorandom key.
derive_heartbeat_key() {
  info=$(printf 'rollcall/derive/v1\000heartbeat\000%s\000%s' "$2" "$3" | hex)
  openssl kdf -binary -keylen 32 -kdfopt digest:SHA2-256 -kdfopt mode:EXPAND_ONLY \
    -kdfopt "hexkey:$(hex <"$1")" -kdfopt "hexinfo:$info" HKDF
}

# 3.1: prefix_, and base64url of the value and its checksum. The value stays in a file: a variable holds no NUL.
print_bearer() {
  { printf 'rcb_' && cat "$1"; } | openssl dgst -sha256 -binary | head -c 4 >"$1.checksum"
  printf 'rcb_%s\n' "$(cat "$1" "$1.checksum" | base64url)"
}

wrap_public() { openssl pkey -in "$1/wrap.pem" -pubout -outform DER | tail -c 32; }

mac() { openssl mac -binary -digest SHA256 -macopt "hexkey:$1" HMAC; }

case $1 in
bearer)
  key=$(mktemp -d)
  trap 'rm -r "$key"' EXIT
  derive_heartbeat_key "$2" "$3" "$4" >"$key/value"
  print_bearer "$key/value"
  ;;
enrol)
  token_file=$2 pinned=$3 host=$4 dir=$5
  # Four bytes of checksum stand behind the JSON.
  json=$(sed -e 's/^rce_//' "$token_file" | tr -d '\n' | unbase64url | head -c -4)
  secret=$(printf '%s' "$json" | sed -e 's/.*"secret":"\([^"]*\)".*/\1/' | unbase64url | hex)
  hub=$(printf '%s' "$json" | sed -e 's/.*"hubs":\["\([^"]*\)".*/\1/')
  [ -e "$dir/wrap.pem" ] || openssl genpkey -algorithm X25519 -out "$dir/wrap.pem"
  [ -e "$dir/instance" ] || openssl rand -out "$dir/instance" 16
  key=$(printf 'rollcall/enrol/v1\001' | mac "$secret" | hex)
  {
    printf 'rollcall/enrol-proof/v1\000%s\000' "$host"
    wrap_public "$dir"
    printf '\000'
    openssl dgst -sha256 -binary </dev/null
    printf '\000'
    cat "$dir/instance"
  } | mac "$key" >"$dir/proof"
  printf '{"host":"%s","wrapKey":{"suite":"x25519","public":"%s"},"instance":"%s","proof":"%s"}' \
    "$host" "$(wrap_public "$dir" | base64url)" "$(base64url <"$dir/instance")" "$(base64url <"$dir/proof")" |
    curl -sS --tlsv1.3 --insecure --pinnedpubkey "$pinned" -H 'Content-Type: application/json' --data-binary @- \
      -o "$dir/answer.json" -w '%{http_code}\n' "$hub/v1/enrol"
  ;;
beat)
  master=$2 life=$3 hub=$4 ca=$5 host=$6 seq=$7 dir=$8
  [ -e "$dir/wrap.pem" ] || openssl genpkey -algorithm X25519 -out "$dir/wrap.pem"
  [ -e "$dir/instance" ] || openssl rand -out "$dir/instance" 16
  held=$(cat "$dir/held.json" 2>/dev/null || printf '{}')
  printf '{"instance":"%s","seq":%s,"wrapKey":{"suite":"x25519","public":"%s"},"held":%s,"refused":[],"agent":{"version":"shell"},"startup":"fresh","sentAt":"%s"}' \
    "$(base64url <"$dir/instance")" "$seq" "$(wrap_public "$dir" | base64url)" "$held" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$dir/beat.json"
  {
    printf 'header = "Authorization: Bearer %s"\n' "$(sh "$0" bearer "$master" "$host" "$life")"
    printf 'header = "X-Rollcall-Host: %s"\n' "$host"
  } | curl -sS --tlsv1.3 --cacert "$ca" -K - -H 'Content-Type: application/json' --data-binary "@$dir/beat.json" \
    -o "$dir/answer.json" -D "$dir/headers" -w '%{http_code}\n' "$hub/v1/heartbeat"
  ;;
esac
