#!/usr/bin/env bash
# Checks that no sentence and no example of the specifications stands in the repository; with --all, prints every one,
# with --words N, runs of N words and more. The folder of the specifications' texts beside the clone holds the tool that
# compares; where it is missing there is nothing to compare with, and the exit code is 77.
set -euo pipefail
cd "$(dirname "$0")/../.."
tool=../shared/tools/own_words.py
if [ ! -f "$tool" ]; then
    echo "skipped: the folder of the specifications' texts is not beside the clone: no $tool"
    exit 77
fi
python3 "$tool" . "$@"
