#!/usr/bin/env bash
# Runs the checks that are too slow for each change. Compiler warnings are errors.
#   tsan      unit tests that use threads, with the thread sanitizer: tensors and thread teams, executables and
#             sessions, the API, the language service, shared standard libraries
#   clang     unit tests of a build by clang-16
#   portable  unit tests, golden tests and a sample of the conformance suite of a build without x86-64 code
#   fuzz      each fuzz target for 60 s from its corpus (tests/fuzz/run)
#   site      the documentation site in Chromium, with axe-core
#   artefacts
#             the wheel, the Debian packages, the archive and the steps of the Dockerfile in minimal systems of Debian 11 to 13
#             (as root, with the right to mount)
#   systems   the quick start in minimal systems of Debian 12 and 13 (as root, with the right to mount)
#   editors   the language server in Neovim and Emacs
#   asan      all suites with the address and undefined-behaviour sanitizers
#
#   tools/dev/full_check.sh [PART...]    all or the given parts; prints a table of the parts and their seconds at the end
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/setup.sh
source tools/dev/parts.sh
export NNEFC_WERROR=ON

# run_tests PRESET OPTION...: runs the tests of a build selected by options of ctest, with $launcher if it is set.
run_tests() {
  local preset=$1
  shift
  say "testing build/$preset"
  ${launcher[@]+"${launcher[@]}"} ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
}

# GCC 12's thread sanitizer requires disabled address space randomization. Tests of forked children start threads there,
# which it rejects by default.
part_tsan() {
  local suites=(runtime_tensor runtime_engine api language semantics)
  local programs=("${suites[@]/#/nnefc_}") names
  install_packages "${packages[@]}" "${test_packages[@]}"
  build tsan "${programs[@]/%/_test}"
  names=$(IFS='|' && echo "${suites[*]}")
  local -x TSAN_OPTIONS="die_after_fork=0 ${TSAN_OPTIONS:-}"
  launcher=(setarch -R)
  run_tests tsan -R "^unit\.($names)(_narrow)?\$"
}

part_clang() {
  install_packages "${packages[@]}" "${test_packages[@]}" clang-16
  build clang nnefc_unit_tests
  run_tests clang -R '^unit\.'
}

part_portable() {
  install_packages "${packages[@]}" "${test_packages[@]}"
  install_test_environment
  build portable nnefc_unit_tests nnefc
  run_tests portable -R '^(unit|golden)\.'
  say "running the operations of sections 4.3 to 4.9 of the ratified specification"
  local suite=tests/conformance/operations nnefc=build/portable/bin/nnefc
  .venv/bin/python $suite/make.py build/portable/conformance
  .venv/bin/python $suite/run.py --cases build/portable/conformance --only '^ratified/4\.[3-9]' --jobs "$(nproc)" \
    --rules -v --command "$nnefc run {model} --inputs {inputs} --outputs {outputs}" --check "$nnefc check {model}"
}

part_fuzz() {
  install_packages "${packages[@]}" "${test_packages[@]}" clang-16 libclang-rt-16-dev llvm-16
  tests/fuzz/run 60
}

part_site() {
  install_packages "${packages[@]}" "${test_packages[@]}" chromium
  install_test_environment
  build release nnefc
  .venv/bin/pip install -q --disable-pip-version-check -r tests/docs/browser_requirements.txt
  .venv/bin/python tools/docs/build.py
  .venv/bin/python tests/docs/browser.py build/docs/site
}

part_artefacts() {
  local suite
  install_packages "${packages[@]}" "${test_packages[@]}" debootstrap dpkg-dev file
  install_test_environment
  tools/wheel.sh
  tools/packages.sh
  tools/archive.sh
  for suite in bullseye bookworm trixie; do
    tools/wheel.sh --userland $suite
    tools/archive.sh --userland $suite
  done
  tools/packages.sh --userland bookworm
  tools/dev/check_docker.sh
}

part_systems() {
  local suite
  for suite in bookworm trixie; do
    tools/dev/check_systems.sh $suite
  done
}

part_editors() {
  install_packages "${packages[@]}" "${test_packages[@]}" "${emacs_packages[@]}"
  install_test_environment
  build release nnefc
  run_tests release -R '^lsp\.editors$'
}

part_asan() {
  tools/test.sh asan
}

readonly all_parts="tsan clang portable fuzz site artefacts systems editors asan"
require_parts "$all_parts" "$@"
# shellcheck disable=SC2086
run_parts ${@:-$all_parts}
