# Writes the parts of drawings, which are the files of this folder, into one C++ file.
#
#   cmake -DOUTPUT=<file.cpp> "-DSCRIPTS=<the .js files, in the order of their use>" -P embed.cmake

cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/../../../../stdlib/raw_literals.cmake)

# Appends the definition of a function that returns the joined texts of files.
function(embed FUNCTION)
  string(APPEND code "\nstd::string_view ${FUNCTION}() {\n  static constexpr std::string_view kText =")
  foreach(file ${ARGN})
    raw_literals("${CMAKE_CURRENT_LIST_DIR}/${file}" "      " literals)
    string(APPEND code "${literals}")
  endforeach()
  string(APPEND code ";\n  return kText;\n}\n")
  set(code "${code}" PARENT_SCOPE)
endfunction()

set(code "// Generated from the files of tools/api/views/page; edit those.\n\n")
string(APPEND code "#include \"tools/api/views/page_parts.h\"\n\nnamespace nnefc::api {\n")
embed(PageTemplate page.html)
embed(PageStyle style.css)
embed(PageLayoutLibrary dagre.min.js)
embed(PageScript ${SCRIPTS})
string(APPEND code "\n}  // namespace nnefc::api\n")
file(WRITE "${OUTPUT}" "${code}")
