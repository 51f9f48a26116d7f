#pragma once

// Defined if code for x86-64 instructions is compiled in addition to equivalent portable code. The build
// option NNEFC_PORTABLE disables it, so that the portable code is tested on x86-64 too.
#if defined(__x86_64__) && !defined(NNEFC_PORTABLE)
#define NNEFC_X86 1
#endif
