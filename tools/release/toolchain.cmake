# Links for glibc 2.28 and the C++ library of GCC 8 (old_libraries.py), with other libraries from archives: the wheel and the
# tar archive contain all that they need. Code is compiled as in other builds, which share the compiler cache.
set(NNEFC_STATIC ON)
get_filename_component(libraries ${CMAKE_CURRENT_LIST_DIR}/../../build/static ABSOLUTE)
set(flags "-L${libraries} -Wl,--gc-sections -Wl,--as-needed")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${flags} -Wl,-z,defs")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${flags}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${flags} -Wl,--wrap=__libc_start_main")

set(debian /usr/lib/x86_64-linux-gnu)
set(ANTLR4_LIBRARY ${libraries}/libantlr4-runtime.a CACHE FILEPATH "")
set(ZLIB_LIBRARY ${debian}/libz.a CACHE FILEPATH "")
set(Terminfo_LIBRARIES ${debian}/libtinfo.a CACHE FILEPATH "")
set(fmt_DIR ${CMAKE_CURRENT_LIST_DIR}/cmake CACHE PATH "")
set(NNEFC_LIBRARY_bz2 ${libraries}/libbz2.a CACHE FILEPATH "")
set(pugixml_DIR ${CMAKE_CURRENT_LIST_DIR}/cmake CACHE PATH "")
set(CMAKE_DISABLE_FIND_PACKAGE_dnnl ON)  # Debian has only a shared library, for the glibc of its release
