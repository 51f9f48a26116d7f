# Writes the files of a folder that end with .EXTENSION into one C++ file, as the table that the function TABLE gives.
#
#   cmake -DSOURCE_DIR=<folder> -DEXTENSION=rule -DTABLE=EmbeddedRules -DOUTPUT=<file.cpp> -P embed.cmake

cmake_minimum_required(VERSION 3.25)

# Compilers differ in how long one literal may be; 16 KB is below most limits.
set(CHUNK 16384)
set(DELIMITER "EMBEDDED_TEXT")

file(GLOB files "${SOURCE_DIR}/*.${EXTENSION}")
set(code "// Generated from the .${EXTENSION} files of compiler/explain; edit those.\n\n")
string(APPEND code "#include \"compiler/explain/embedded_file.h\"\n\n")
string(APPEND code "namespace nnefc::explain {\n\nconst std::vector<EmbeddedFile>& ${TABLE}() {\n")
string(APPEND code "  static const std::vector<EmbeddedFile> files = {\n")
foreach(file ${files})
  cmake_path(GET file STEM LAST_ONLY name)
  file(READ "${file}" text)
  string(FIND "${text}" ")${DELIMITER}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} holds the end of a raw string literal, `)${DELIMITER}\"`")
  endif()
  string(LENGTH "${text}" length)
  string(APPEND code "      {\"${name}\",")
  set(start 0)
  while(start LESS length)
    string(SUBSTRING "${text}" ${start} ${CHUNK} chunk)
    string(APPEND code "\n       R\"${DELIMITER}(${chunk})${DELIMITER}\"")
    math(EXPR start "${start} + ${CHUNK}")
  endwhile()
  string(APPEND code "},\n")
endforeach()
string(APPEND code "  };\n  return files;\n}\n\n}  // namespace nnefc::explain\n")
file(WRITE "${OUTPUT}" "${code}")
