#!/usr/bin/env bash
# Runs nnefc for the action: NNEFC_COMMAND on NNEFC_MODELS with NNEFC_ARGUMENTS, whose words are separated by blanks.
set -euo pipefail

PATH=$PATH:$(cd "$(dirname "$0")/../../.." && pwd)/build/release/bin
read -r -a models <<<"${NNEFC_MODELS:-.}"
read -r -a arguments <<<"${NNEFC_ARGUMENTS:-}"
case ${NNEFC_COMMAND:-check} in
  check | lint) options=(--format github) ;;
  fmt) options=(--check) ;;
  *)
    echo "::error::unknown command \`$NNEFC_COMMAND\`; there are check, lint and fmt"
    exit 2
    ;;
esac
exec nnefc "${NNEFC_COMMAND:-check}" --recursive "${options[@]}" ${arguments[@]+"${arguments[@]}"} -- "${models[@]}"
