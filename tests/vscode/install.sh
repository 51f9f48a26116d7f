#!/usr/bin/env bash
# Builds the extension of VS Code and installs VS Code's server in build/vscode, unless that is done: install.sh
#
# The package `code-server` has VS Code's server and its pages. Of the modules of that server, only those for terminals and logs
# are compiled, with the headers of Node.js. Its lock file names a git repository, so it is removed.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/vscode/node.sh

readonly room=$PWD/build/vscode
readonly server=$room/server/node_modules/code-server/lib/vscode
npm_install() { npm install --ignore-scripts --no-audit --no-fund --loglevel=error "$@"; }

# once NAME FILE...: calls install_NAME unless it succeeded with the same files and scripts.
once() {
  local name=$1 contents
  shift
  contents=$(node --version && cat "$@" tests/vscode/*.sh | sha256sum)
  [ "$(cat "$room/$name.installed" 2>/dev/null)" != "$contents" ] || return 0
  say "installing the $name in build/vscode"
  rm -rf "$room/$name.installed" "${room:?}/$name"
  (set -e && "install_$name")
  echo "$contents" >"$room/$name.installed"
}

install_extension() {
  cp -r tools/vscode "$room/extension"
  cd "$room/extension"
  rm -rf build node_modules
  npm ci --no-audit --no-fund --loglevel=error
  npm run --silent build
  npm run --silent package
}

install_server() {
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
}

files=$(find tools/vscode -type f -not -path '*/node_modules/*' -not -path '*/build/*' | sort)
# shellcheck disable=SC2086
once extension $files
once server tests/vscode/package.json
