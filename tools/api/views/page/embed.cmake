# Writes the files of this folder, which are the parts of pages, into one C++ file.
#
#   cmake -DOUTPUT=<file.cpp> "-DFILES=<names>" -P embed.cmake

cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/../../../../stdlib/raw_literals.cmake)

set(code "// Generated from the files of tools/api/views/page; edit those.\n\n")
string(APPEND code "#include \"compiler/support/check.h\"\n#include \"tools/api/views/page_template.h\"\n\nnamespace nnefc::api {\n\n")
string(APPEND code "std::string_view PageFile(std::string_view name) {\n")
foreach(file ${FILES})
  raw_literals("${CMAKE_CURRENT_LIST_DIR}/${file}" "        " literals)
  string(APPEND code "  if (name == \"${file}\") {\n    static constexpr std::string_view kText =${literals};\n    return kText;\n  }\n")
endforeach()
string(APPEND code "  CheckFailed(\"an embedded file of the page\", __FILE__, __LINE__);\n}\n\n}  // namespace nnefc::api\n")
file(WRITE "${OUTPUT}" "${code}")
