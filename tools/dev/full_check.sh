#!/usr/bin/env bash
# Runs the checks that take too long for every change. A warning of a compiler is an error.
#   tsan      unit tests that use threads, with the thread sanitizer: tensors and thread teams, executables and
#             sessions, the API, the language service, shared standard libraries
#   clang     unit tests of a build by clang-16
#   portable  unit tests, golden tests and a sample of the conformance suite of a build without code for x86-64 alone
#   fuzz      each fuzz target for 60 s from its corpus (tests/fuzz/run)
#   asan      all suites with the address and undefined-behaviour sanitizers
#
#   tools/dev/full_check.sh [PART...]    all parts, or those named; ends with a table of the parts and their seconds
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/setup.sh
source tools/dev/parts.sh
export NNEFC_WERROR=ON

# run_tests PRESET OPTION...: runs the tests of a build that the options of ctest select, by $launcher if that is set.
run_tests() {
  local preset=$1
  shift
  say "testing build/$preset"
  ${launcher[@]+"${launcher[@]}"} ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
}

# The thread sanitizer of GCC 12 needs the addresses of a process without address space randomization. Tests of what a
# child of fork does start threads there, which it refuses by default.
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

part_asan() {
  tools/test.sh asan
}

readonly all_parts="tsan clang portable fuzz asan"
require_parts "$all_parts" "$@"
# shellcheck disable=SC2086
run_parts ${@:-$all_parts}
