# Writes a C++ file with a function that calls a function of each family, found by its definition in a source file.
#
#   cmake -DSOURCE_DIR=<folder> -DFOLDERS=<subfolder;..> -DGROUPS=<subfolder;..> -DHEADER=<include> -DNAMESPACE=<of the folder>
#         -DPATTERN=<regex> -DDECLARATION=<of a family> -DFUNCTION=<signature> -DCALL=<statement> -DOUTPUT=<file.cpp> -P families.cmake
#
# Group 1 of PATTERN is the name of a family's function, which replaces NAME in DECLARATION and CALL. Functions of FOLDERS are in
# the namespaces of these names, those of GROUPS in NAMESPACE.

cmake_minimum_required(VERSION 3.25)

set(declarations "")
set(calls "")
foreach(folder "" ${GROUPS} ${FOLDERS})
  set(namespace "${NAMESPACE}")
  set(prefix "")
  if(NOT folder STREQUAL "" AND folder IN_LIST FOLDERS)
    string(APPEND namespace "::${folder}")
    set(prefix "${folder}::")
  endif()
  file(GLOB files "${SOURCE_DIR}/${folder}/*.cpp")
  list(SORT files)
  string(APPEND declarations "namespace ${namespace} {\n")
  foreach(file ${files})
    file(STRINGS "${file}" definitions REGEX "${PATTERN}")
    foreach(definition ${definitions})
      string(REGEX REPLACE "${PATTERN}.*" "\\1" name "${definition}")
      string(REPLACE NAME "${name}" declaration "${DECLARATION}")
      string(REPLACE NAME "${prefix}${name}" call "${CALL}")
      string(APPEND declarations "${declaration};\n")
      string(APPEND calls "  ${call};\n")
    endforeach()
  endforeach()
  string(APPEND declarations "}  // namespace ${namespace}\n\n")
endforeach()

set(code "// Generated from the definitions of the families; do not edit.\n\n#include \"${HEADER}\"\n\n${declarations}")
string(APPEND code "namespace ${NAMESPACE} {\n\n${FUNCTION} {\n${calls}}\n\n}  // namespace ${NAMESPACE}\n")
set(previous "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" previous)
endif()
if(NOT previous STREQUAL code)
  file(WRITE "${OUTPUT}" "${code}")
endif()
