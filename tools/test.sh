#!/usr/bin/env bash
# Installs what the tests need, builds, and runs every test.
#   tools/test.sh          the release build and all suites
#   tools/test.sh asan     the same with sanitizers (each network once)
#   tools/test.sh asan fast
#                          of these, builds and runs only the suites labelled `fast`
#   tools/test.sh wide     the same with loops for registers of AVX-512, on a processor that has AVX2 alone
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/setup.sh

preset=${1:-release}
install_packages "${packages[@]}" "${test_packages[@]}"
continue_as_owner "$@"

install_test_environment
targets=() suites=()
if [ "${2:-}" = fast ]; then
  targets=(nnefc_fast_tests)
  suites=(-L fast)
elif [ $# -gt 1 ]; then
  fail "unknown suites \`$2\`; there are \`fast\`, or all without a second argument"
fi
build "$preset" ${targets[@]+"${targets[@]}"}

say "testing build/$preset"
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" ${suites[@]+"${suites[@]}"}
