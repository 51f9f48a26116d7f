#!/usr/bin/env bash
# Clones the last commit into an empty folder for each installation method in the READMEs (quick start, `pip install`,
# wheel, Debian packages) and for a project that adds the sources to its own, then builds, installs and runs it there.
#   tools/dev/check_install.sh [PART...]   quickstart, subproject, pip, wheel, packages; by default all
set -euo pipefail
cd "$(dirname "$0")/../.."
source tools/setup.sh

readonly checkout=$PWD
room=$(mktemp -d)
trap 'rm -rf --one-file-system "$room"' EXIT
export TMPDIR=$room/tmp
mkdir "$TMPDIR"
readonly clone=$room/clone
readonly network=$clone/tests/networks/googlenet.nnef

# step WORDS COMMAND...: runs a command and shows its output only if it fails.
step() {
  local words=$1 start=$SECONDS
  shift
  printf '   %-88s' "$words"
  # In the background, because `set -e` has no effect within a condition.
  "$@" >"$room/log" 2>&1 </dev/null &
  if ! wait $!; then
    printf 'FAILED\n'
    cat "$room/log"
    fail "$words"
  fi
  printf '%4d s\n' $((SECONDS - start))
}

# from FOLDER COMMAND...
from() {
  (cd "$1" && shift && "$@")
}

# Clones the checkout of any owner; a folder that is not a clone is copied.
clone_checkout() {
  rm -rf "$clone"
  if [ -e .git ]; then
    printf '[safe]\n\tdirectory = *\n' >"$room/gitconfig"
    GIT_CONFIG_GLOBAL=$room/gitconfig git clone -q "$checkout" "$clone"
  else
    mkdir "$clone"
    tar -c --exclude=./.venv --exclude=./build . | tar -x -C "$clone"
  fi
}

# absent PATTERN FILE: fails and shows the lines of the file that match, if there are any.
absent() {
  if grep -E "$1" "$2"; then return 1; fi
}

# The last command printed by the quick start works in any folder, and so do the files installed by `cmake --install`.
run_quickstart() {
  local TIMEFORMAT='   processor time of the quick start (what ccache has is not compiled): %U s, and %S s of the system'
  time from "$clone" tools/quickstart.sh 2>&1 | tee "$room/quickstart"
  absent 'CMake (Deprecation )?Warning|runtime\.no-onednn' "$room/quickstart"
  [ "$(grep -c '^-- nnefc: without .* because ' "$room/quickstart")" -eq 2 ]  # the parts that need a Python
  from / bash -c "$(tail -n 1 "$room/quickstart")"
  from "$clone" cmake --install build/quick --prefix "$room/prefix"
  from / "$room/prefix/bin/nnefc" check "$network"
  python3 "$clone/tests/install/run.py" --prefix "$room/prefix"
}

# run_smoke VENV OPTION...
run_smoke() {
  local venv=$1
  shift
  PATH="$venv/bin:$PATH" from "$room" "$venv/bin/python" "$clone/tests/python/smoke.py" "$network" "$@"
}

pip_install() {
  local venv=$1
  shift
  [ -d "$venv" ] || python3 -m venv "$venv"
  from "$clone" "$venv/bin/pip" install -q --disable-pip-version-check "$@"
}

check_quickstart() {
  step "tools/quickstart.sh" run_quickstart
  grep '^   processor time of the quick start' "$room/log"
}

check_pip() {
  step "pip install ./tools/python" pip_install "$room/pip" ./tools/python
  step "GoogLeNet in the package" run_smoke "$room/pip"
  step "pip install './tools/python[openvino]'" pip_install "$room/pip" './tools/python[openvino]'
  step "GoogLeNet by the package's front end of OpenVINO" run_smoke "$room/pip" --openvino
}

# check_libraries FOLDER: checks that the wheel has no libraries for formats that nnefc does not read.
check_libraries() {
  find "$1" >"$room/files"
  absent '/lib(icu|xml2)[^/]*$' "$room/files"
}

check_wheel() {
  step "tools/wheel.sh" from "$clone" tools/wheel.sh
  step "pip install build/wheels/nnefc-*.whl" pip_install "$room/wheel" "$clone"/build/wheels/nnefc-*.whl
  step "GoogLeNet in the wheel" run_smoke "$room/wheel" --without-onednn
  step "the wheel's program starts in less than 15 ms" \
    python3 "$clone/tests/install/start_time.py" "$room/wheel/bin/nnefc" --at-most 15
  step "libraries of the wheel" check_libraries "$room/wheel"
  step "the command line to compare the wheel's speed with" from "$clone" bash -c 'source tools/setup.sh; build release nnefc'
  step "ResNet-50, which does not need oneDNN, takes at most 1.3 times as long as by the command line" \
    python3 "$clone/tests/install/compare_speed.py" "$clone/build/release/bin/nnefc" "$room/wheel/bin/python" \
    "$clone/tests/networks/resnet50.nnef" --at-most 1.3
  cat "$room/log"
}

# Builds and runs programs with the files of the packages, without the system's package manager.
run_unpacked() {
  local package folder=$room/unpacked
  for package in "$clone"/build/packages/*.deb; do dpkg-deb -x "$package" "$folder"; done
  LD_LIBRARY_PATH=$(dirname "$(find "$folder" -name libnnefc.so)") python3 "$clone/tests/install/run.py" --prefix "$folder/usr"
}

check_packages() {
  step "tools/packages.sh" from "$clone" tools/packages.sh
  step "programs that use the packages' files" run_unpacked
  step "tools/dev/check_packages.sh (lintian)" from "$clone" tools/dev/check_packages.sh
  if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
    step "tools/packages.sh --userland bookworm" from "$clone" tools/packages.sh --userland bookworm
  else
    echo "   tools/packages.sh --userland bookworm: skipped, because it needs root and the right to mount"
  fi
}

check_subproject() {
  step "a project that builds nnefc without the runtime" python3 "$clone/tests/install/subproject.py" "$clone"
  cat "$room/log"
}

parts=("$@")
[ $# -gt 0 ] || parts=(quickstart subproject pip wheel packages)
for part in "${parts[@]}"; do
  declare -F "check_$part" >/dev/null || fail "unknown part \`$part\`; there are quickstart, subproject, pip, wheel, packages"
done
install_packages "${packages[@]}" python3 python3-dev python3-venv dpkg-dev file
say "installing nnefc in each way, from a clone in $clone"
git diff --quiet HEAD 2>/dev/null || echo "   changes that are not committed are not part of it"
for part in "${parts[@]}"; do
  step "git clone" clone_checkout
  "check_$part"
done
