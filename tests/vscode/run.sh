#!/usr/bin/env bash
# Installs VS Code with the extension unless that is done, and runs the tests: run.sh [OPTION...]
#
# OPTION... are options of pytest.
set -euo pipefail
cd "$(dirname "$0")/../.."

# The installation depends on these files alone.
readonly stamp=build/vscode/installed
files=$(find tools/vscode tests/vscode/package.json tests/vscode/install.sh -type f -not -path '*/node_modules/*' \
  -not -path '*/build/*' | sort)
# shellcheck disable=SC2086
contents=$(cat $files | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null)" != "$contents" ]; then
  rm -f "$stamp"
  tests/vscode/install.sh
  echo "$contents" >"$stamp"
fi
exec .venv/bin/python -m pytest tests/vscode "$@"
