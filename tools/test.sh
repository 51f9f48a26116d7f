#!/usr/bin/env bash
# Installs what the tests need, builds, and runs every test.
#   tools/test.sh          the release build and all suites
#   tools/test.sh asan     the same with sanitizers (each network once)
#   tools/test.sh wide     the same with loops for registers of AVX-512, on a processor that has AVX2 alone
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/setup.sh

preset=${1:-release}
install_packages "${packages[@]}" python3 python3-dev python3-venv clang-format-16
continue_as_owner "$@"

venv=.venv
stamp=$venv/requirements.installed
if ! cmp -s tests/requirements.txt "$stamp"; then
  say "installing the Python test peers into $venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r tests/requirements.txt ||
    fail "pip install failed: is there a network?"
  cp tests/requirements.txt "$stamp"
  rm -f build/*/build.ninja  # configured anew: what the environment has decides what is built
fi

build "$preset"

say "testing build/$preset"
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)"
