#!/usr/bin/env bash
# Executes the last stage of tools/Dockerfile in a minimal Debian 12 (as root), with the packages of build/packages, and checks and
# runs a network in the image.
#   tools/dev/check_docker.sh [--all]    --all: executes the stage that builds the packages, too
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/setup.sh

stages=(--made "build=$PWD/build/docker")
[ "${1:-}" != --all ] || stages=()
make_userland bookworm
say "executing the steps of tools/Dockerfile"
umount "$userland/proc"
rm -rf build/docker
mkdir -p build/docker/nnefc/build
cp -r build/packages build/docker/nnefc/build/ 2>/dev/null || [ ${#stages[@]} -eq 0 ] || fail "build the packages first: tools/packages.sh"
for words in "check googlenet.nnef" "run googlenet.nnef --random-weights 1 --random-inputs 1"; do
  # shellcheck disable=SC2086
  python3 tests/install/dockerfile.py tools/Dockerfile . "$userland" "${stages[@]}" --mount tests/networks --run $words
done
mount -t proc proc "$userland/proc"
say "done"
