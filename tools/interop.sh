#!/usr/bin/env bash
# Exports torch modules by torch_to_nnef and holds nnefc against torch:
#
#   tools/interop.sh FOLDER
#
# FOLDER gets a Python environment with torch (6 GB), the exports, and report.txt and report.html; what is there is kept.
# Not part of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:?"name a folder for the environment and the exports"}
nnefc=${NNEFC:-build/release/bin/nnefc}
mkdir -p "$folder"
if [ ! -d "$folder/venv" ]; then
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install -q numpy openvino torch torchvision torch_to_nnef tract nnef
fi
[ -f "$folder/exports/refused.txt" ] || "$folder/venv/bin/python" tests/interop/exporters/export.py "$folder/exports"
"$folder/venv/bin/python" tests/interop/exporters/report.py "$nnefc" "$folder/exports" "$folder/report"
