# Writes OUTPUT, the definition of kCommit, if it has changed.

cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND git -C ${SOURCE} describe --tags --match "v[0-9]*" --always --abbrev=12 --dirty=+ OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "#include \"tools/nnefc/commit.h\"

namespace nnefc::cli {

const char* const kCommit = \"@commit@\";

}  // namespace nnefc::cli
")
