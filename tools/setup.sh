# Sourced by the scripts of tools: installs the build and test dependencies of nnefc.
# shellcheck shell=bash

# Debian 12 may have several versions of LLVM; later systems have another default than 14.
llvm=llvm-dev
! grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release || llvm=llvm-14-dev

# What the program is built with. ocl-icd-opencl-dev: required by the CMake files of libdnnl-dev.
program_packages=(
  antlr4 libantlr4-runtime-dev "$llvm" libfmt-dev libarchive-dev libpugixml-dev nlohmann-json3-dev libcli11-dev libdnnl-dev
  ocl-icd-opencl-dev zlib1g-dev cmake ninja-build g++ ccache git ca-certificates
)

# What every target of CMake is built with, which includes unit tests and benchmarks.
packages=("${program_packages[@]}" libgtest-dev libbenchmark-dev)

# Debian 12 has Emacs 28, whose client of language servers is another package.
emacs_packages=(emacs-nox)
! grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release || emacs_packages+=(elpa-eglot)

test_packages=(python3 python3-dev python3-venv clang-format-16 neovim graphviz chromium)

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail() {
  printf '%s: error: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "installing packages needs root: run this as root, or install sudo"
  fi
}

# continue_as_owner ARGUMENT...: restarts the script as the owner of the clone if it was called with sudo, so that only
# packages are installed as root and root owns no files of the clone.
continue_as_owner() {
  local owner
  owner=$(stat -c %U .)
  if [ "$(id -u)" -eq 0 ] && [ "$owner" != root ] && [ "$owner" = "${SUDO_USER:-}" ]; then
    HOME=$(getent passwd "$owner" | cut -d: -f6) exec runuser -u "$owner" -- "$PWD/tools/${0##*/}" "$@"
  fi
}

# require_space GIGABYTES: fails unless the folder `build` can grow to that size.
require_space() {
  local used=0 free
  [ ! -d build ] || used=$(du -sk build | cut -f 1)
  free=$(df -Pk . | awk 'NR == 2 { print $4 }')
  if ((used + free < $1 * 1000000)); then
    fail "$PWD/build can grow to $(((used + free) / 1000000)) GB, but the tests need $1 GB: delete other files of this disk"
  fi
}

# install_packages PACKAGE...: installs the missing ones with one command.
install_packages() {
  command -v dpkg-query >/dev/null || fail "this script installs Debian packages; on another system install: $*"
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  say "installing ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q ||
    fail "apt-get update failed: is there a network? (needed: ${missing[*]})"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    fail "apt-get install failed: is there a network? (needed: ${missing[*]})"
}

# Creates the Python environment .venv of the tests, unless it satisfies tests/requirements.txt and the files that it includes.
install_test_environment() {
  local venv=.venv
  local stamp=$venv/requirements.installed
  local files=(tests/requirements.txt tests/docs/browser_requirements.txt tools/docs/requirements.txt)
  if cat "${files[@]}" | cmp -s - "$stamp"; then return; fi
  say "installing the Python packages of the tests into $venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r tests/requirements.txt ||
    fail "pip install failed: is there a network?"
  cat "${files[@]}" >"$stamp"
  rm -f build/*/build.ninja  # builds are configured again, because the environment decides which parts they have
}

# make_userland SUITE [OPTION...]: creates a minimal Debian system of that release by debootstrap with those options, in the
# folder $userland with an empty folder /trial. It is deleted when the script succeeds.
make_userland() {
  local suite=$1 site
  shift
  install_packages debootstrap
  [ "$(id -u)" -eq 0 ] || fail "--userland makes a system of its own, for which it must be root"
  userland=$(mktemp -d)
  # shellcheck disable=SC2016
  site=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | grep -v security | head -n 1)
  say "making a bare $suite"
  debootstrap --variant=minbase "$@" "$suite" "$userland" "$site" >"$userland.log" ||
    fail "debootstrap failed: see $userland.log"
  mkdir "$userland/trial"
  mount -t proc proc "$userland/proc"  # where a program learns where it lies
  trap drop_userland EXIT
}

drop_userland() {
  local outcome=$?
  umount "$userland/proc"
  [ "$outcome" -ne 0 ] || rm -rf "$userland" "$userland.log"
}

# configure PRESET: configures unless the build folder exists.
configure() {
  local preset=$1 output
  [ ! -f "build/$preset/build.ninja" ] || return 0
  say "configuring build/$preset"
  output=$(cmake --preset "$preset" 2>&1) || {
    printf '%s\n' "$output"
    fail "cmake could not configure the build (see above)"
  }
  grep '^-- nnefc: ' <<<"$output" || true  # parts that this build is without
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  configure "$preset"
  say "building build/$preset"
  cmake --build "build/$preset" ${1:+--target "$@"} || fail "the build failed (see above)"
}
