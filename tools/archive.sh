#!/usr/bin/env bash
# Builds a relocatable archive of the command line and the library for all Linux systems with glibc 2.28 or later:
# build/archives/nnefc-VERSION-linux-x86_64.tar.gz.
#   tools/archive.sh
#   tools/archive.sh --userland SUITE  tests it in a minimal system of that Debian release, created by debootstrap (as root):
#                                      bullseye, bookworm, trixie
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/setup.sh

readonly archives=build/archives folder=build/archive

make_archive() {
  install_packages "${packages[@]}" binutils
  tools/release/dependencies.sh
  say "building the archive"
  local output version name
  output=$(cmake -S . -B "$folder" -G Ninja --toolchain tools/release/toolchain.cmake -DCMAKE_BUILD_TYPE=Release \
    -DNNEFC_BUILD_TESTS=OFF -DNNEFC_BUILD_BENCH=OFF -DNNEFC_PYTHON= 2>&1) || {
    printf '%s\n' "$output"
    fail "cmake could not configure the build (see above)"
  }
  cmake --build "$folder" || fail "the build failed (see above)"
  version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$folder/CMakeCache.txt")
  name=nnefc-$version-linux-x86_64
  rm -rf "${archives:?}"
  mkdir -p "$archives"
  cmake --install "$folder" --strip --prefix "$archives/$name" >/dev/null
  cp LICENSE README.md .github/CHANGELOG.md "$archives/$name/"
  find "$archives/$name" -type f \( -path '*/bin/*' -o -name '*.so*' \) -exec python3 tools/release/check_versions.py {} + ||
    fail "the archive needs a newer system (see above)"
  # The same files make the same archive.
  tar -C "$archives" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" \
    -c "$name" | gzip -9n >"$archives/$name.tar.gz"
  rm -r "${archives:?}/$name"
  ls -l "$archives"
}

try_userland() {
  make_userland "$1"
  cp "$archives"/*.tar.gz tests/networks/googlenet.nnef "$userland/trial/"
  say "unpacking and running it"
  chroot "$userland" /bin/sh -ec '
    cd /trial
    start=$(date +%s)
    mkdir "a folder"
    tar -xf nnefc-*.tar.gz -C "a folder" --strip-components 1
    mv "a folder" moved
    ln -s /trial/moved/bin/nnefc /usr/local/bin/nnefc
    nnefc --version
    nnefc check googlenet.nnef
    nnefc run googlenet.nnef --random-weights 1 --random-inputs 1
    seconds=$(($(date +%s) - start))
    echo "unpacked and run in $seconds s"
    [ $seconds -le 10 ]' || fail "the archive does not work in $1 (see above)"
}

if [ "${1:-}" = --userland ]; then
  [ $# -eq 2 ] || fail "--userland takes the name of a Debian release"
  try_userland "$2"
else
  make_archive
fi
say "done"
