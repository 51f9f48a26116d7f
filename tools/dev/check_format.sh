#!/usr/bin/env bash
# Checks the formatting of all C++ files; --fix repairs it.
set -euo pipefail
cd "$(dirname "$0")/../.."
mode=(--dry-run --Werror)
[ "${1:-}" = --fix ] && mode=(-i)
git ls-files -z -- '*.cpp' '*.h' | xargs -0 -r -P 2 -n 20 clang-format-16 "${mode[@]}"
