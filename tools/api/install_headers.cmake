# Installs the public headers and those for plug-ins. Sources include them by their path; installed headers are below <nnefc/..>:
# "tools/api/model.h" becomes "nnefc/model.h", "runtime/kernels/backend.h" becomes "nnefc/runtime/kernels/backend.h".
include("${NNEFC_SOURCE_DIR}/compiler/plugin/interface_headers.cmake")
nnefc_list_interface_headers(headers "${NNEFC_SOURCE_DIR}")
list(APPEND headers
    tools/api/executable.h tools/api/model.h tools/api/nnefc.h tools/api/operation.h tools/api/port.h tools/api/report.h tools/api/tensor.h
    compiler/support/tensor/element_type.h runtime/kernels/backend.h)
list(REMOVE_DUPLICATES headers)
set(target "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/include")
foreach(header ${headers})
  file(READ "${NNEFC_SOURCE_DIR}/${header}" text)
  string(REPLACE "#include \"tools/api/" "#include \"nnefc/" text "${text}")
  string(REGEX REPLACE "#include \"(compiler|runtime)/" "#include \"nnefc/\\1/" text "${text}")
  string(REPLACE "tools/api/" "" installed "${header}")
  message(STATUS "Installing: ${target}/nnefc/${installed}")
  file(WRITE "${target}/nnefc/${installed}" "${text}")
endforeach()
file(COPY "${NNEFC_DIGEST_HEADER}" DESTINATION "${target}/nnefc/compiler/plugin")
