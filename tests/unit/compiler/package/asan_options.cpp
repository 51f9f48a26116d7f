// Allocations that are too large fail, as they do without the sanitizer: tests
// look at what is said then.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
