#!/usr/bin/env bash
# Installs the dependencies of the tests, builds, and runs all tests.
#   tools/test.sh          the release build and all suites
#   tools/test.sh asan     the same with sanitizers (each network once)
#   tools/test.sh asan fast
#                          builds and runs only the suites labelled `fast`
#   tools/test.sh asan-quick
#                          builds the command line alone with sanitizers, in half the time, and runs the golden, discarded and
#                          robustness tests labelled `fast`
#   tools/test.sh wide     the same with 512-bit vector loops, on a processor with AVX2 only
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/setup.sh

preset=${1:-release}
install_packages "${packages[@]}" "${test_packages[@]}"
continue_as_owner "$@"

if [[ ${2:-} != fast && $preset != asan-quick ]]; then require_space 16; fi
install_test_environment
targets=() suites=()
if [ "$preset" = asan-quick ]; then
  targets=(nnefc)
  # This build has the kernels of one instruction set, and golden.implementations lists those of another.
  suites=(-L fast -R '^(golden|discarded|robustness)' -E '^golden[.]implementations$')
elif [ "${2:-}" = fast ]; then
  targets=(nnefc_fast_tests)
  suites=(-L fast)
elif [ $# -gt 1 ]; then
  fail "unknown suites \`$2\`; there are \`fast\`, or all without a second argument"
fi
if [[ $preset != asan* && ${#suites[@]} -eq 0 ]]; then
  tests/vscode/install.sh || fail "VS Code, an editor of the tests, could not be installed: is there a network?"
fi
build "$preset" ${targets[@]+"${targets[@]}"}

say "testing build/$preset"
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" ${suites[@]+"${suites[@]}"}
