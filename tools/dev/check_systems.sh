#!/usr/bin/env bash
# Runs the quick start of the last commit in a minimal system of a Debian release, created by debootstrap (as root, with the
# right to mount). It has that release's compiler, LLVM, ANTLR and oneDNN. Installs the build there, and runs a network with it.
#   tools/dev/check_systems.sh SUITE      bookworm, trixie
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/setup.sh

[ $# -eq 1 ] || fail "expects the name of a Debian release"
make_userland "$1"
git clone -q . "$userland/trial/nnefc"
say "running the quick start in it"
chroot "$userland" /bin/bash -ec '
  cd /trial/nnefc
  export DEBIAN_FRONTEND=noninteractive HOME=/root
  apt-get update -q >/dev/null
  tools/quickstart.sh
  cmake --install build/quick >/dev/null
  cd /
  nnefc --version
  nnefc run /trial/nnefc/tests/networks/googlenet.nnef --random-weights 1 --random-inputs 1' ||
  fail "the quick start does not work in $1 (see above)"
say "done"
