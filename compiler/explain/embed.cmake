# Writes the *.EXTENSION files of a folder into one C++ file, as the table that the function TABLE returns.
#
#   cmake -DSOURCE_DIR=<folder> -DEXTENSION=rule -DTABLE=EmbeddedRules -DOUTPUT=<file.cpp> -P embed.cmake

cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/../../stdlib/raw_literals.cmake)

file(GLOB files "${SOURCE_DIR}/*.${EXTENSION}")
set(code "// Generated from the .${EXTENSION} files of compiler/explain; edit those.\n\n")
string(APPEND code "#include \"compiler/explain/embedded_file.h\"\n\n")
string(APPEND code "namespace nnefc::explain {\n\nconst std::vector<EmbeddedFile>& ${TABLE}() {\n")
string(APPEND code "  static const std::vector<EmbeddedFile> files = {\n")
foreach(file ${files})
  cmake_path(GET file STEM LAST_ONLY name)
  raw_literals("${file}" "       " literals)
  string(APPEND code "      {\"${name}\",${literals}},\n")
endforeach()
string(APPEND code "  };\n  return files;\n}\n\n}  // namespace nnefc::explain\n")
file(WRITE "${OUTPUT}" "${code}")
