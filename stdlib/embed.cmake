# Writes the documents of the standard library into one C++ file.
#
#   cmake -DSOURCE_DIR=<folder of the documents> -DOUTPUT=<file.cpp> -P embed.cmake
#
# A document becomes a constant of raw string literals that the compiler joins.

cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/raw_literals.cmake)

function(embed_document FILE FUNCTION)
  raw_literals("${SOURCE_DIR}/${FILE}" "    " literals)
  string(APPEND code "\nstd::string_view ${FUNCTION}() {\n  static constexpr std::string_view kText ="
                     "${literals};\n  return kText;\n}\n")
  set(code "${code}" PARENT_SCOPE)
endfunction()

# The words and strings of the documents outside of comments, each once.
function(embed_words FUNCTION)
  set(words "")
  foreach(FILE ${ARGN})
    file(READ "${SOURCE_DIR}/${FILE}" text)
    string(REGEX REPLACE "#[^\n]*" "" text "${text}")
    string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_]*" found "${text}")
    string(REGEX MATCHALL "'[^'\n]+'" strings "${text}")
    list(TRANSFORM strings REPLACE "'" "")
    list(APPEND words ${found} ${strings})
  endforeach()
  list(REMOVE_DUPLICATES words)
  list(TRANSFORM words REPLACE "(.+)" "\n    \"\\1\"")
  list(JOIN words "," list)
  string(APPEND code "\nstd::span<const std::string_view> ${FUNCTION}() {\n  static constexpr std::string_view kWords[] = {"
                     "${list}};\n  return kWords;\n}\n")
  set(code "${code}" PARENT_SCOPE)
endfunction()

set(code "// Generated from the documents in stdlib/; edit those.\n\n")
string(APPEND code "#include \"stdlib/stdlib.h\"\n\nnamespace nnefc::stdlib {\n")
embed_document(ratified.nnef RatifiedLibraryText)
embed_document(provisional.nnef ProvisionalLibraryText)
embed_document(control_flow.nnef ControlFlowLibraryText)
embed_document(opset.nnef OpsetLibraryText)
embed_document(layers.nnef LayersLibraryText)
embed_document(tract/core.nnef TractCoreLibraryText)
embed_document(tract/transformers.nnef TractTransformersLibraryText)
embed_document(tract/extra.nnef TractExtraLibraryText)
embed_document(tract/onnx.nnef TractOnnxLibraryText)
embed_document(tract/pulse.nnef TractPulseLibraryText)
embed_words(LibraryWords ratified.nnef provisional.nnef control_flow.nnef opset.nnef layers.nnef tract/core.nnef
            tract/transformers.nnef tract/extra.nnef tract/onnx.nnef tract/pulse.nnef)
string(APPEND code "\n}  // namespace nnefc::stdlib\n")
file(WRITE "${OUTPUT}" "${code}")
