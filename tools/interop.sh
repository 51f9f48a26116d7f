#!/usr/bin/env bash
# Reports results for documents of torch_to_nnef, by family: tried, passed, failed. Exits with 1 if one fails.
#
#   tools/interop.sh             those in tests/interop/torch_to_nnef, compared with torch, 8-bit ones with tract
#   tools/interop.sh FOLDER      exports all of tests/interop/exporters first, and compares their speed with tract
#
# FOLDER gets a Python environment with torch (7 GB), the exports, report.txt and report.html; existing files are kept.
# The tests run the former (tests/interop/vendors/test_stored_exports.py).
set -euo pipefail
cd "$(dirname "$0")/.."
nnefc=${NNEFC:-build/release/bin/nnefc}
if [ $# -eq 0 ]; then
  python=${PYTHON:-.venv/bin/python}
  [ -x "$python" ] || { echo "interop.sh: no $python; tools/setup.sh makes it, or name one by PYTHON" >&2; exit 2; }
  exec "$python" tests/interop/stored_exports.py "$nnefc"
fi
folder=$1
mkdir -p "$folder"
if [ ! -d "$folder/venv" ]; then
  python3 -m venv "$folder/venv"
  # These versions include torch.ao for quantization.
  "$folder/venv/bin/pip" install -q torch==2.8.0 torchvision==0.23.0 torch_to_nnef==0.24.12 \
    $(grep -E '^(numpy|openvino|tract|nnef)==' tests/requirements.txt)
fi
[ -f "$folder/exports/refused.txt" ] || "$folder/venv/bin/python" tests/interop/exporters/export.py "$folder/exports"
"$folder/venv/bin/python" tests/interop/exporters/report.py "$nnefc" "$folder/exports" "$folder/report"
