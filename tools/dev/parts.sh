# Sourced by .ci/run and full_check.sh, after setup.sh: runs the parts of a check one after another.
# shellcheck shell=bash

# run_parts PART...: runs each function part_PART, even after a failure, and prints a table of the parts, their results and
# seconds. Returns 1 if a part failed.
run_parts() {
  local part start result status=0 rows=()
  for part in "$@"; do
    say "part $part"
    start=$SECONDS
    result=passed
    # In the background, because `set -e` has no effect within a condition.
    "part_$part" </dev/null &
    wait $! || { result=FAILED && status=1; }
    rows+=("$(printf '%-10s %-7s %6d s' "$part" "$result" $((SECONDS - start)))")
  done
  say "parts"
  printf '%s\n' "${rows[@]}"
  return $status
}

# require_parts "NAME..." PART...: fails for a part that is not one of the names.
require_parts() {
  local names=$1 part
  shift
  for part in "$@"; do
    case " $names " in
      *" $part "*) ;;
      *) fail "unknown part \`$part\`; there are ${names// /, }" ;;
    esac
  done
}
