#!/usr/bin/env bash
# Installs and runs clang-tidy-16 with the checks of .clang-tidy: on the files changed since a commit, on the given files,
# or on all.
#   tools/dev/check_tidy.sh [COMMIT | --all | FILE...]
# Without arguments, a branch is compared with its merge base with main. On main itself, the files of the last commits are
# checked, at most MAX_FILES.
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
# Files that include the generated parser, or the digest of the interface of plug-ins, cannot be read without it.
cmake --build "$build" --target nnefc_generate_grammar nnefc_interface_digest >/dev/null 2>&1 ||
  fail "sources cannot be generated: run \`cmake --build $build --target nnefc_generate_grammar nnefc_interface_digest\`"

# compiled FILTER: prints the compiled files selected by the filter, a Python expression on `file`.
compiled() {
  python3 - "$build/compile_commands.json" "$1" <<'PYTHON'
import json, os, sys
root = os.getcwd() + os.sep
files = {os.path.relpath(entry["file"]) for entry in json.load(open(sys.argv[1])) if entry["file"].startswith(root)}
print("\n".join(sorted(file for file in files if "grammar" not in file and eval(sys.argv[2]))))
PYTHON
}

# Prints the merge base of HEAD and main; fails if that is HEAD, or there is none.
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
  # Checks the unity sources of the build, so that headers are read once for several files.
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
  # Most recently changed first: uncommitted files, then those of `git log`.
  files=$({ git diff --name-only HEAD && git log --format= --name-only "$commit..HEAD"; } | awk '!seen[$0]++' |
    grep -Fx -f <(compiled 'True') | head -n "${max_files:-1000000}" || true)
  echo "files changed since $(git log -1 --format='%h (%s)' "$commit")${max_files:+, at most $max_files}: $(grep -c . <<<"$files" || true)"
fi
[ -n "$files" ] || { echo "no file to check"; exit 0; }

# Clang cannot read the headers that GCC precompiled.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's/ -Winvalid-pch| -include [^ ]*cmake_pch\.hxx//g' "$build/compile_commands.json" >"$commands/compile_commands.json"

# Ignores GCC-only options. Uses GCC's omp.h, except for an attribute that Clang interprets differently. FMT_CONSTEVAL is as
# in CMakeLists.txt.
printf '%s\n' "$files" | xargs -r -P "${JOBS:-2}" -n 1 "$tidy" -p "$commands" --quiet \
  --extra-arg=-Wno-unknown-warning-option --extra-arg=-DFMT_CONSTEVAL= \
  --extra-arg=-idirafter --extra-arg="$(g++ -print-file-name=include)" --extra-arg='-D__malloc__(release)=' 2> >(grep -v ' generated\.$' >&2)
