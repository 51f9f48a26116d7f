# Writes the rule files of compiler/explain/rules into one C++ file, which `nnefc explain` reads.
#
#   cmake -DSOURCE_DIR=<folder of the rule files> -DOUTPUT=<file.cpp> -P embed_rules.cmake

cmake_minimum_required(VERSION 3.25)

# Compilers differ in how long one literal may be; 16 KB is below most limits.
set(CHUNK 16384)
set(DELIMITER "RULE_TEXT")

file(GLOB files "${SOURCE_DIR}/*.rule")
set(code "// Generated from compiler/explain/rules; edit those.\n\n#include \"compiler/explain/rule_file.h\"\n\n")
string(APPEND code "namespace nnefc::explain {\n\nconst std::vector<EmbeddedRuleFile>& EmbeddedRuleFiles() {\n")
string(APPEND code "  static const std::vector<EmbeddedRuleFile> files = {\n")
foreach(file ${files})
  cmake_path(GET file STEM LAST_ONLY label)
  file(READ "${file}" text)
  string(FIND "${text}" ")${DELIMITER}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} holds the end of a raw string literal, `)${DELIMITER}\"`")
  endif()
  string(LENGTH "${text}" length)
  string(APPEND code "      {\"${label}\",")
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
