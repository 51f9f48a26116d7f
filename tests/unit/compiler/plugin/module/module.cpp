// A plug-in that registers what the program that loads it wants, and, by macros, files that are none.

#include <new>

#include "compiler/plugin/interface.h"

namespace nnefc::plugin {
class Registrar;
void Missing(int number);
}  // namespace nnefc::plugin

extern "C" {
void nnefc_test_register(nnefc::plugin::Registrar& registrar);
void nnefc_test_missing();

#if defined(NNEFC_TEST_FOREIGN)
__attribute__((used, section(NNEFC_INTERFACE_SECTION))) const char nnefc_interface_text[] = "headers 0";
#elif !defined(NNEFC_TEST_NAMELESS)
__attribute__((used, section(NNEFC_INTERFACE_SECTION))) const char nnefc_interface_text[] = NNEFC_INTERFACE;
#endif

#if !defined(NNEFC_TEST_UNREGISTERED)
__attribute__((visibility("default"))) void NNEFC_REGISTER_FUNCTION(nnefc::plugin::Registrar& registrar) {
#if defined(NNEFC_TEST_UNRESOLVED)
  nnefc_test_missing();
#elif defined(NNEFC_TEST_MANGLED)
  nnefc::plugin::Missing(1);
#elif defined(NNEFC_TEST_ALLOCATING)
  ::operator delete(::operator new(1));
#endif
  nnefc_test_register(registrar);
}
#endif
}
