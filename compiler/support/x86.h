#pragma once

// Defined where code for the instructions of x86-64 is compiled next to portable code, which computes the
// same. The option NNEFC_PORTABLE of the build removes it, so that the code for other processors is tested on
// x86-64 too.
#if defined(__x86_64__) && !defined(NNEFC_PORTABLE)
#define NNEFC_X86 1
#endif
