#pragma once

#include <version>

#include "compiler/plugin/interface_digest.h"
#include "fmt/core.h"
#include "llvm/Config/llvm-config.h"

// The requirements shared by a plug-in and the nnefc that loads it: the headers, and the libraries whose
// types they use.
#define NNEFC_TEXT_OF(value) NNEFC_TEXT(value)
#define NNEFC_TEXT(value) #value
#ifdef _LIBCPP_VERSION
#define NNEFC_STANDARD_LIBRARY "libc++"
#else
#define NNEFC_STANDARD_LIBRARY "libstdc++ (cxx11 " NNEFC_TEXT_OF(_GLIBCXX_USE_CXX11_ABI) ")"
#endif
#define NNEFC_INTERFACE                                                                       \
  "headers " NNEFC_INTERFACE_DIGEST ", " NNEFC_STANDARD_LIBRARY ", LLVM " LLVM_VERSION_STRING \
  ", fmt " NNEFC_TEXT_OF(FMT_VERSION)

// The section of a plug-in with that text, and the function that registers it.
#define NNEFC_INTERFACE_SECTION "nnefc_interface"
#define NNEFC_REGISTER_FUNCTION nnefc_register_extension
