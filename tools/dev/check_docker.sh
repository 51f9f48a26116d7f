#!/usr/bin/env bash
# Executes tools/Dockerfile without Docker in a minimal Debian 12 (as root), and runs a network in the image. The stage that
# builds the packages is not executed: the packages are those of build/packages.
#   tools/dev/check_docker.sh [--all]    --all: executes that stage, too
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/setup.sh

stages=()
if [ "${1:-}" != --all ]; then
  readonly made=build/docker/nnefc/build/packages
  rm -rf build/docker
  mkdir -p "$made"
  cp build/packages/*.deb "$made/" || fail "build the packages first: tools/packages.sh"
  stages=(--made "build=$PWD/build/docker")
fi
make_userland bookworm
umount "$userland/proc"
say "executing the steps of tools/Dockerfile"
python3 tests/install/dockerfile.py tools/Dockerfile . "$userland" ${stages[@]+"${stages[@]}"} --mount tests/networks \
  --run run googlenet.nnef --random-weights 1 --random-inputs 1
mount -t proc proc "$userland/proc"
say "done"
