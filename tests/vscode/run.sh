#!/usr/bin/env bash
# Installs VS Code with the extension unless that is done, and runs the tests: run.sh [OPTION...]
#
# OPTION... are options of pytest.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/vscode/node.sh

tests/vscode/install.sh
exec .venv/bin/python -m pytest tests/vscode "$@"
