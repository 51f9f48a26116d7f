#!/usr/bin/env bash
# Makes a release in build/release-VERSION: the wheel, the Debian packages, the archive, a software bill of materials and their
# checksums, all from a clean clone of the commit.
#   tools/release.sh VERSION                for example 0.2.0
#   tools/release.sh VERSION --sign KEY     signs the checksums with a key of gpg
# If the sources have another version, this script sets it in CMakeLists.txt, dates the unreleased changes in CHANGELOG.md and
# commits both. It publishes nothing: push the commit and a tag `vVERSION`, and .github/workflows/release.yml does so.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/setup.sh

readonly changes=.github/CHANGELOG.md

# Sets the version and dates the changes, unless the sources have the version.
prepare_sources() {
  if grep -q "^project(nnefc VERSION $version " CMakeLists.txt && grep -q "^## $version\b" "$changes"; then
    return
  fi
  grep -q "^## $version\b" "$changes" && fail "$changes has version $version, but CMakeLists.txt has another one"
  [ -n "$(sed -n '/^## Unreleased$/,/^## [0-9]/p' "$changes" | grep '^- ')" ] || fail "$changes lists no unreleased changes"
  say "setting the version $version"
  sed -i "s/^project(nnefc VERSION [0-9.]* /project(nnefc VERSION $version /" CMakeLists.txt
  sed -i "s/^## Unreleased\$/## Unreleased\n\n## $version ($(date -u +%F))/" "$changes"
  sed -i "s/^version: .*/version: $version/" .github/CITATION.cff
  git commit -q -m "Release nnefc $version" -- CMakeLists.txt "$changes" .github/CITATION.cff
}

make_artefacts() {
  local room clone
  room=$(mktemp -d)
  clone=$room/clone
  say "cloning $(git rev-parse --short HEAD)"
  git clone -q . "$clone"
  (
    cd "$clone" && tools/wheel.sh && tools/packages.sh && tools/archive.sh
  ) || fail "the artefacts could not be made (see above); the clone is $clone"
  rm -rf "$artefacts"
  mkdir -p "$artefacts"
  cp "$clone"/build/wheels/*.whl "$clone"/build/packages/*.deb "$clone"/build/archives/*.tar.gz "$artefacts/"
  python3 tools/release/sbom.py "$version" "$artefacts"/* >"$room/sbom.json"
  mv "$room/sbom.json" "$artefacts/nnefc-$version.cdx.json"
  rm -rf "$room"
}

sign_checksums() {
  (cd "$artefacts" && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
  [ -z "$key" ] || gpg --batch --yes --local-user "$key" --armor --detach-sign "$artefacts/SHA256SUMS" ||
    fail "gpg could not sign the checksums with the key $key"
}

version=${1:-}
key=
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "the first argument is a version such as 0.2.0"
if [ $# -eq 3 ] && [ "$2" = --sign ]; then
  key=$3
  gpg --list-secret-keys "$key" >/dev/null || fail "gpg has no secret key $key"
elif [ $# -ne 1 ]; then
  fail "unknown arguments after the version; there is \`--sign KEY\`"
fi
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
readonly version key artefacts=build/release-$version
prepare_sources
make_artefacts
sign_checksums
say "done"
ls -l "$artefacts"
