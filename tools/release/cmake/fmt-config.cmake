# fmt as an archive, compiled with the settings of Debian's package.
add_library(fmt::fmt STATIC IMPORTED)
set_target_properties(fmt::fmt PROPERTIES
  IMPORTED_LOCATION ${CMAKE_CURRENT_LIST_DIR}/../../../build/static/libfmt.a
  INTERFACE_COMPILE_DEFINITIONS FMT_SHARED
  INTERFACE_COMPILE_FEATURES cxx_variadic_templates)
