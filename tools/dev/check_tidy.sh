#!/usr/bin/env bash
# Runs clang-tidy-16, which it installs, with the checks of .clang-tidy: on the files changed since a commit, on those
# that are named, or on all.
#   tools/dev/check_tidy.sh [COMMIT | --all | FILE...]
# Without arguments, a branch is compared with the commit where it left main. A clone of main itself, where no such
# commit is older than HEAD, is compared with its state before the last commits, and at most MAX_FILES files are checked,
# those that changed last.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/setup.sh

readonly LAST_COMMITS=30 MAX_FILES=40
build=${NNEFC_BUILD:-build/release}
tidy=clang-tidy-16
install_packages "$tidy"
if [ ! -f "$build/compile_commands.json" ] || [ ! -f "$build/build.ninja" ]; then
  [ "$build" = build/release ] || fail "no $build/compile_commands.json: NNEFC_BUILD names no build folder"
  install_packages "${packages[@]}" "${test_packages[@]}"
  configure release
fi
# The parser is generated before the files that include it can be read.
cmake --build "$build" --target nnefc_generate_grammar >/dev/null 2>&1 ||
  fail "the parser cannot be generated: run \`cmake --build $build --target nnefc_generate_grammar\`"

# compiled FILTER: what the build compiles, of which the filter, an expression of Python on `file`, chooses.
compiled() {
  python3 - "$build/compile_commands.json" "$1" <<'PYTHON'
import json, os, sys
root = os.getcwd() + os.sep
files = {os.path.relpath(entry["file"]) for entry in json.load(open(sys.argv[1])) if entry["file"].startswith(root)}
print("\n".join(sorted(file for file in files if "grammar" not in file and eval(sys.argv[2]))))
PYTHON
}

# Prints the commit where HEAD left main; fails if that is HEAD, or there is none.
start_of_branch() {
  local main start
  for main in origin/main main; do
    start=$(git merge-base HEAD "$main" 2>/dev/null) || continue
    [ "$start" != "$(git rev-parse HEAD)" ] || continue
    echo "$start"
    return 0
  done
  return 1
}

if [ "${1:-}" = --all ]; then
  # By the units in which the build compiles several files, which reads their headers once.
  files=$(compiled '"/unity_" in file')
elif [ -f "${1:-}" ]; then
  files=$(printf '%s\n' "$@")
else
  max_files=
  if [ $# -gt 0 ]; then
    commit=$(git rev-parse --verify --quiet "$1^{commit}") || fail "\`$1\` is neither a commit nor a file"
  elif ! commit=$(start_of_branch); then
    max_files=$MAX_FILES
    commit=$(git rev-list --first-parent --max-count=$((LAST_COMMITS + 1)) HEAD | tail -n 1)
  fi
  # Sorted by time: the order in which `git log` names files that changed, those that are not committed first.
  files=$({ git diff --name-only HEAD && git log --format= --name-only "$commit..HEAD"; } | awk '!seen[$0]++' |
    grep -Fx -f <(compiled 'True') | head -n "${max_files:-1000000}" || true)
  echo "files changed since $(git log -1 --format='%h (%s)' "$commit")${max_files:+, at most $max_files}: $(grep -c . <<<"$files" || true)"
fi
[ -n "$files" ] || { echo "no file to check"; exit 0; }

# What GCC alone understands is passed over. Its omp.h is taken, but for an attribute that Clang reads otherwise.
# FMT_CONSTEVAL is as in CMakeLists.txt.
printf '%s\n' "$files" | xargs -r -P "${JOBS:-2}" -n 1 "$tidy" -p "$build" --quiet \
  --extra-arg=-Wno-unknown-warning-option --extra-arg=-DFMT_CONSTEVAL= \
  --extra-arg=-idirafter --extra-arg="$(g++ -print-file-name=include)" --extra-arg='-D__malloc__(release)=' 2> >(grep -v ' generated\.$' >&2)
