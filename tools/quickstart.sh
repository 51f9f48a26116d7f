#!/usr/bin/env bash
# Sets up nnefc on a fresh Debian 12 or 13 machine: installs the packages, builds the preset `quick`, and runs GoogLeNet from
# its document. Debian 13 has another oneDNN than nnefc calls, so that a build there is without it.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/setup.sh

install_packages "${program_packages[@]}"
continue_as_owner "$@"
build quick nnefc

nnefc=$PWD/build/quick/bin/nnefc
network=tests/networks/googlenet.nnef

say "check: $network against the specification"
"$nnefc" check "$network"
echo "no mistakes found"

say "inspect: its first layers"
"$nnefc" inspect "$network" --layers 8

say "run: with random weights and a random image"
"$nnefc" run "$network" --random-weights 1 --random-inputs 1 --verbose

say "done"
cat <<TEXT
To install \`nnefc\` in /usr/local:
  sudo cmake --install $PWD/build/quick
To run it from any folder without that:
  $nnefc --help
TEXT
