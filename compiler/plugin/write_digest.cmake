# Writes the digest of the headers that plug-ins include:
#
#   cmake -DSOURCE_DIR=<sources> -DOUTPUT=<header> -DDEPENDENCIES=<file> -P write_digest.cmake

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/interface_headers.cmake)

nnefc_list_interface_headers(headers ${SOURCE_DIR})
set(digests "")
set(paths "")
foreach(header ${headers})
  file(READ ${SOURCE_DIR}/${header} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \t\n]+" " " text "${text}")
  string(SHA256 digest "${text}")
  string(APPEND digests "${header} ${digest}\n")
  list(APPEND paths ${SOURCE_DIR}/${header})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUTPUT} "#pragma once\n\n// Generated from the headers that plug-ins see.\n#define NNEFC_INTERFACE_DIGEST \"${digest}\"\n")
list(JOIN paths " " paths)
file(WRITE ${DEPENDENCIES} "${OUTPUT}: ${paths}\n")
