#!/usr/bin/env bash
# Builds in build/static what toolchain.cmake links that Debian does not have in this form: libraries of older systems, fmt as
# an archive, and the archives of bzip2 and the runtime of ANTLR as position-independent code.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/setup.sh

readonly static=build/static

# The remaining archives.
readonly archives=(libbz2-dev liblz4-dev liblzma-dev libncurses-dev libzstd-dev nettle-dev)

# Creates an apt state for sources of the installed release. The state of the system is not changed.
prepare_sources() {
  local state=$PWD/$static/apt site
  # shellcheck disable=SC2016
  site=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' |
    grep -v -e security -e updates | head -n 1)
  [ -n "$site" ] || fail "apt has no package lists of Debian: call \`apt-get update\`"
  mkdir -p "$state/lists/partial" "$static/source"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site main" >"$state/sources.list"
  apt_options=(-q -o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$state/lists"
    -o APT::Sandbox::User="$(id -un)")
  apt-get "${apt_options[@]}" update
}

# fetch_source PACKAGE: unpacks the source of an installed package into $static/source.
fetch_source() {
  # shellcheck disable=SC2016
  (cd "$static/source" && apt-get "${apt_options[@]}" source "$(dpkg-query -W -f '${source:Package}=${source:Version}' "$1")")
}

# make_archive NAME STANDARD FILE...: compiles them to $static/libNAME.a.
make_archive() {
  local archive=$PWD/$static/lib$1.a objects=$static/objects standard=$2 files
  shift 2
  readarray -t files < <(realpath "$@")
  rm -rf "$objects" "$archive"
  mkdir "$objects"
  (
    cd "$objects" &&
      printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 -- ccache g++ -x "${standard%%[0-9]*}" -std="$standard" -O2 -fPIC \
        -ffunction-sections -fdata-sections -w -DFMT_SHARED -D_FILE_OFFSET_BITS=64 -c &&
      ar rcs "$archive" ./*.o
  ) || fail "$archive could not be built (see above)"
  rm -r "$objects"
}

# Makes the archive of the runtime of ANTLR of files that include a quarter of its sources each: most of their time is for headers.
make_antlr() {
  local file part=0 united=$static/source/united folder
  folder=$(realpath $static/source/antlr4-cpp-runtime-*/runtime/src)
  rm -rf "$united"
  mkdir "$united"
  for file in $(find "$folder" -name '*.cpp' | sort); do
    echo "#include \"$file\"" >>"$united/part_$((part++ % 4)).cpp"
  done
  CPATH=$folder make_archive antlr4-runtime c++14 "$united"/*.cpp
}

install_packages "${packages[@]}" "${archives[@]}" dpkg-dev debian-archive-keyring python3
[ "$(uname -m)" = x86_64 ] || fail "the libraries of older systems are those of x86-64"
say "building libraries in $static"
mkdir -p "$static"
if [ ! -f "$static/libc.so" ] || [ -n "$(find tools/release -newer "$static/libc.so" \( -name '*.c' -o -name old_libraries.py \))" ]; then
  python3 tools/release/old_libraries.py "$static"
fi
[ -f "$static/libfmt.a" ] || make_archive fmt c++20 tools/release/fmt.cpp
if [ ! -f "$static/libbz2.a" ] || [ ! -f "$static/libantlr4-runtime.a" ]; then
  say "fetching sources"
  prepare_sources && fetch_source libbz2-dev && fetch_source libantlr4-runtime-dev || fail "the sources could not be fetched (see above)"
  make_archive bz2 c99 "$static"/source/bzip2-*/{blocksort,bzlib,compress,crctable,decompress,huffman,randtable}.c
  make_antlr
fi
