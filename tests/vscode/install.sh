#!/usr/bin/env bash
# Builds the extension of VS Code and installs VS Code itself in build/vscode, unless that is done: install.sh
#
# The package `code-server` has VS Code's server and its pages. Of the modules of that server, only those for terminals and logs
# are compiled, with the headers of Node.js. Its lock file names a git repository, so it is removed.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/vscode/node.sh

readonly room=$PWD/build/vscode
readonly stamp=$room/installed
npm_install() { npm install --ignore-scripts --no-audit --no-fund --loglevel=error "$@"; }

# The installation depends on these files alone.
files=$(find tools/vscode tests/vscode/package.json tests/vscode/*.sh -type f -not -path '*/node_modules/*' -not -path '*/build/*' | sort)
# shellcheck disable=SC2086
contents=$(node --version && cat $files | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null)" = "$contents" ]; then exit 0; fi
rm -f "$stamp"
say "installing VS Code and its extension into build/vscode"

mkdir -p "$room"
rm -rf "$room/extension"
cp -r tools/vscode "$room/extension"
(
  cd "$room/extension"
  rm -rf build node_modules
  npm ci --no-audit --no-fund --loglevel=error
  npm run --silent build
  npm run --silent package
)

readonly server=$room/server/node_modules/code-server/lib/vscode
(
  rm -rf "$room/server"
  mkdir "$room/server"
  cp tests/vscode/package.json "$room/server"
  cd "$room/server"
  npm_install
  cd "$server"
  rm -f npm-shrinkwrap.json
  npm_install --omit=dev
  # The compiler's cache serves other clones too.
  CC="ccache gcc" CXX="ccache g++" CCACHE_BASEDIR=$PWD npm_config_nodedir=$node_folder \
    npm rebuild --loglevel=error @vscode/spdlog native-watchdog node-pty
)
echo "$contents" >"$stamp"
