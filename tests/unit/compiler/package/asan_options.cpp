// Makes allocations that are too large fail, as they do without the sanitizer: tests check the message.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
