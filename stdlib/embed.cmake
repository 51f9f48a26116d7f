# Writes the documents of the standard library into one C++ file.
#
#   cmake -DSOURCE_DIR=<folder of the documents> -DOUTPUT=<file.cpp> -P embed.cmake
#
# A document becomes a constant of raw string literals that the compiler joins.

cmake_minimum_required(VERSION 3.25)

# Compilers differ in how long one literal may be; 48 KB is below every known limit but the smallest.
set(CHUNK 49152)
set(DELIMITER "NNEF_TEXT")

function(embed_document FILE FUNCTION)
  file(READ "${SOURCE_DIR}/${FILE}" text)
  string(FIND "${text}" ")${DELIMITER}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${FILE} holds the end of a raw string literal, `)${DELIMITER}\"`")
  endif()
  string(LENGTH "${text}" length)
  if(length EQUAL 0)
    message(FATAL_ERROR "${FILE} is empty")
  endif()
  set(literals "")
  set(start 0)
  while(start LESS length)
    string(SUBSTRING "${text}" ${start} ${CHUNK} chunk)
    string(APPEND literals "\n    R\"${DELIMITER}(${chunk})${DELIMITER}\"")
    math(EXPR start "${start} + ${CHUNK}")
  endwhile()
  string(APPEND code "\nstd::string_view ${FUNCTION}() {\n  static constexpr std::string_view kText ="
                     "${literals};\n  return kText;\n}\n")
  set(code "${code}" PARENT_SCOPE)
endfunction()

set(code "// Generated from the documents in stdlib/; edit those.\n\n")
string(APPEND code "#include \"stdlib/stdlib.h\"\n\nnamespace nnefc {\n")
embed_document(ratified.nnef RatifiedLibraryText)
embed_document(provisional.nnef ProvisionalLibraryText)
embed_document(control_flow.nnef ControlFlowLibraryText)
string(APPEND code "\n}  // namespace nnefc\n")
file(WRITE "${OUTPUT}" "${code}")
