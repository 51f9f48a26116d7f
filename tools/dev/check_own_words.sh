#!/usr/bin/env bash
# Checks that the repository contains no sentence or example of the specifications. --all prints all matches, --words N
# those of at least N words. The comparison tool is in the folder of the specifications' texts next to the clone; without
# it the exit code is 77.
set -euo pipefail
cd "$(dirname "$0")/../.."
tool=../shared/tools/own_words.py
if [ ! -f "$tool" ]; then
    echo "skipped: the folder of the specifications' texts is not beside the clone: no $tool"
    exit 77
fi
python3 "$tool" . "$@"
