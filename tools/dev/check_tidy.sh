#!/usr/bin/env bash
# Runs clang-tidy-16 with the checks of .clang-tidy: on the files changed since a commit (by default, since the work left
# main), on those that are named, or on all.
#   tools/dev/check_tidy.sh [COMMIT | --all | FILE...]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${NNEFC_BUILD:-build/release}
tidy=clang-tidy-16
command -v "$tidy" >/dev/null || { echo "check_tidy.sh: error: no $tidy: install the package of that name" >&2; exit 2; }
[ -f "$build/compile_commands.json" ] ||
  { echo "check_tidy.sh: error: no $build/compile_commands.json: run \`cmake --preset release\`, or name a build folder by NNEFC_BUILD" >&2; exit 2; }
# The parser is generated before the files that include it can be read.
cmake --build "$build" --target nnefc_generate_grammar >/dev/null 2>&1 ||
  { echo "check_tidy.sh: error: the parser cannot be generated: run \`cmake --build $build --target nnefc_generate_grammar\`" >&2; exit 2; }

# compiled FILTER: what the build compiles, of which the filter, an expression of Python on `file`, chooses.
compiled() {
  python3 - "$build/compile_commands.json" "$1" <<'PYTHON'
import json, os, sys
root = os.getcwd() + os.sep
files = {os.path.relpath(entry["file"]) for entry in json.load(open(sys.argv[1])) if entry["file"].startswith(root)}
print("\n".join(sorted(file for file in files if "grammar" not in file and eval(sys.argv[2]))))
PYTHON
}

if [ "${1:-}" = --all ]; then
  # By the units in which the build compiles several files, which reads their headers once.
  files=$(compiled '"/unity_" in file')
elif [ -f "${1:-}" ]; then
  files=$(printf '%s\n' "$@")
else
  commit=$(git rev-parse --verify --quiet "${1:-$(git merge-base HEAD origin/main || true)}^{commit}") ||
    { echo "check_tidy.sh: error: \`${1:-origin/main}\` is neither a commit nor a file" >&2; exit 2; }
  files=$(comm -12 <(git diff --name-only --diff-filter=d "$commit" | sort) <(compiled 'True' | sort))
fi
[ -n "$files" ] || { echo "no file to check"; exit 0; }

# What GCC alone understands is passed over. Its omp.h is taken, but for an attribute that Clang reads otherwise.
# FMT_CONSTEVAL is as in CMakeLists.txt.
printf '%s\n' "$files" | xargs -r -P "${JOBS:-2}" -n 1 "$tidy" -p "$build" --quiet \
  --extra-arg=-Wno-unknown-warning-option --extra-arg=-DFMT_CONSTEVAL= \
  --extra-arg=-idirafter --extra-arg="$(g++ -print-file-name=include)" --extra-arg='-D__malloc__(release)=' 2> >(grep -v ' generated\.$' >&2)
