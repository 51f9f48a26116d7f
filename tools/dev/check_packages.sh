#!/usr/bin/env bash
# Checks the Debian packages of build/packages by lintian, which it installs. tools/packages.sh makes them.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/setup.sh

install_packages lintian
lintian --fail-on error --allow-root build/packages/*.deb || fail "lintian found errors (see above)"
