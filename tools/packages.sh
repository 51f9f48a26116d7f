#!/usr/bin/env bash
# Builds Debian packages of the command line and the library in build/packages.
#   tools/packages.sh
#   tools/packages.sh --userland SUITE  installs, runs and purges them in a minimal system of that Debian release, created by
#                                       debootstrap (as root): bookworm
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/setup.sh

readonly folder=build/packages

make_packages() {
  install_packages "${packages[@]}" python3 dpkg-dev file
  say "building the packages"
  local output
  output=$(cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DNNEFC_PACKAGES=ON -DNNEFC_BUILD_TESTS=OFF \
    -DNNEFC_BUILD_BENCH=OFF -DNNEFC_PYTHON= 2>&1) || {
    printf '%s\n' "$output"
    fail "cmake could not configure the build (see above)"
  }
  cmake --build "$folder" --target nnefc || fail "the build failed (see above)"
  rm -f "$folder"/*.deb
  (cd "$folder" && cpack -G DEB) || fail "cpack failed (see above)"
  ls -l "$folder"/*.deb
}

# try_userland SUITE: checks that purging the packages restores the original files.
try_userland() {
  make_userland "$1"
  cp "$folder"/*.deb tests/networks/googlenet.nnef "$userland/trial/"
  say "installing, running and purging them in it"
  chroot "$userland" /bin/sh -ec '
    cd /trial
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q >/dev/null
    list() { find /usr /etc /lib /opt -path /etc/ld.so.cache -prune -o -print | sort; }
    list >before
    apt-get install -q -q -y --no-install-recommends ./*.deb >/dev/null
    nnefc --version
    nnefc check googlenet.nnef
    nnefc run googlenet.nnef --random-weights 1 --random-inputs 1 >/dev/null 2>messages
    cat messages
    [ ! -s messages ]  # no warning that oneDNN is missing
    apt-get purge -q -q -y --autoremove nnefc libnnefc0 libnnefc-dev >/dev/null
    list >after
    diff before after
    dpkg -l nnefc libnnefc0 libnnefc-dev 2>/dev/null | grep "^.[^n]" | grep nnefc && exit 1
    echo "nothing is left"' || fail "the packages do not work in $1 (see above)"
}

if [ "${1:-}" = --userland ]; then
  [ $# -eq 2 ] || fail "--userland takes the name of a Debian release"
  try_userland "$2"
else
  make_packages
fi
say "done"
