#!/usr/bin/env bash
# Installs lintian and checks the Debian packages of build/packages, built by tools/packages.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/setup.sh

install_packages lintian
lintian --fail-on error --allow-root build/packages/*.deb || fail "lintian found errors (see above)"
