// The start of executables that run on glibc 2.28: see old_libraries.py.
//
// Since glibc 2.34 the C library runs the constructors of an executable. Before, the executable passed a
// function that did. One that is linked with `--wrap=__libc_start_main` passes it, on all versions.
#define HIDDEN __attribute__((visibility("hidden")))

typedef int (*Main)(int, char**, char**);
typedef void (*Constructor)(int, char**, char**);
extern Constructor __preinit_array_start[] HIDDEN, __preinit_array_end[] HIDDEN;
extern Constructor __init_array_start[] HIDDEN, __init_array_end[] HIDDEN;
extern void _init(void) HIDDEN;

static void RunConstructors(int argc, char** argv, char** environment) {
  for (Constructor* run = __preinit_array_start; run < __preinit_array_end; ++run)
    (*run)(argc, argv, environment);
  _init();
  for (Constructor* run = __init_array_start; run < __init_array_end; ++run) (*run)(argc, argv, environment);
}

int __real___libc_start_main(Main main, int argc, char** argv, Constructor run, void (*end)(void),
                             void (*end_loader)(void), void* stack);
HIDDEN int __wrap___libc_start_main(Main main, int argc, char** argv, Constructor run, void (*end)(void),
                                    void (*end_loader)(void), void* stack) {
  (void)run;
  return __real___libc_start_main(main, argc, argv, RunConstructors, end, end_loader, stack);
}
