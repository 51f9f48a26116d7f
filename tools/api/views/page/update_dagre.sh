#!/usr/bin/env bash
# Replaces dagre.min.js by a release of the npm package @dagrejs/dagre, with its license in front: update_dagre.sh VERSION
#
# It needs npm. The build reads dagre.min.js alone.
set -euo pipefail
cd "$(dirname "$0")"

if [ $# -ne 1 ]; then
  echo "usage: ${0##*/} VERSION, such as 3.1.3" >&2
  exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm pack --silent --pack-destination "$folder" "@dagrejs/dagre@$1" >/dev/null
tar -xzf "$folder"/*.tgz -C "$folder"
{
  printf '/* dagre %s, the file dist/dagre.min.js of the npm package @dagrejs/dagre.\n' "$1"
  sed '1d' "$folder/package/dist/dagre.min.js.LEGAL.txt"
  sed '/^\/\/# sourceMappingURL=/d; /^\/\*! For license information/d' "$folder/package/dist/dagre.min.js"
} >"$folder/new.js"
! grep -qi '</script' "$folder/new.js" || {
  echo "${0##*/}: error: the script contains \`</script\`, which would end its element in the page" >&2
  exit 1
}
mv "$folder/new.js" dagre.min.js
