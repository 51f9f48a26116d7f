# Writes the public headers to TARGET/nnefc, with PLUGINS also those of plug-ins:
#
#   cmake -DSOURCE_DIR=<sources> -DTARGET=<folder> -DPLUGINS=<boolean> -DDIGEST=<header> -DDEPENDENCIES=<file> -P write_headers.cmake
#
# Sources include headers by their path; programs include them below <nnefc/..>: "tools/api/model.h" becomes
# "nnefc/model.h", "runtime/kernels/backend.h" becomes "nnefc/runtime/kernels/backend.h".

cmake_minimum_required(VERSION 3.25)
include("${SOURCE_DIR}/compiler/plugin/interface_headers.cmake")

set(headers
    tools/api/executable.h tools/api/model.h tools/api/nnefc.h tools/api/operation.h tools/api/port.h tools/api/report.h tools/api/tensor.h
    compiler/support/tensor/element_type.h runtime/kernels/backend.h)
if(PLUGINS)
  nnefc_list_interface_headers(interface "${SOURCE_DIR}")
  list(APPEND headers ${interface})
  list(REMOVE_DUPLICATES headers)
endif()
file(REMOVE_RECURSE "${TARGET}/nnefc")
set(paths "")
foreach(header ${headers})
  file(READ "${SOURCE_DIR}/${header}" text)
  string(REPLACE "#include \"tools/api/" "#include \"nnefc/" text "${text}")
  string(REGEX REPLACE "#include \"(compiler|runtime)/" "#include \"nnefc/\\1/" text "${text}")
  string(REPLACE "tools/api/" "" written "${header}")
  file(WRITE "${TARGET}/nnefc/${written}" "${text}")
  string(APPEND paths " ${SOURCE_DIR}/${header}")
endforeach()
if(PLUGINS)
  file(COPY "${DIGEST}" DESTINATION "${TARGET}/nnefc/compiler/plugin")
endif()
file(WRITE "${DEPENDENCIES}" "${TARGET}/nnefc/nnefc.h:${paths}\n")
