#!/usr/bin/env bash
# Builds the extension of VS Code and installs VS Code itself in build/vscode: install.sh
#
# The package `code-server` has VS Code's server and its pages. Of the modules of that server, only those for terminals and logs
# are compiled, with the headers of the installed Node.js. Its lock file names a git repository, so it is removed.
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() {
  printf '%s: error: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

major=$(node --version 2>/dev/null | sed 's/^v//; s/[.].*//') || true
[ "${major:-0}" -ge 20 ] || fail "needs Node.js 20 or later with npm; found ${major:-none}"

readonly room=$PWD/build/vscode
npm_install() { npm install --ignore-scripts --no-audit --no-fund --loglevel=error "$@"; }

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
if [ ! -e "$server/node_modules/node-pty/build/Release/pty.node" ]; then
  mkdir -p "$room/server"
  cp tests/vscode/package.json "$room/server"
  (cd "$room/server" && npm_install)
  cd "$server"
  rm -f npm-shrinkwrap.json
  npm_install --omit=dev
  # The compiler's cache serves other clones too.
  CC="ccache gcc" CXX="ccache g++" CCACHE_BASEDIR=$PWD npm_config_nodedir=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")") \
    npm rebuild --loglevel=error @vscode/spdlog native-watchdog node-pty
fi
