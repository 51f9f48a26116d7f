/* Expectations of the programs in C and C++ that use an installed nnefc: each failure is printed and counted.
 */
#ifndef TESTS_INSTALL_PROGRAMS_EXPECT_H
#define TESTS_INSTALL_PROGRAMS_EXPECT_H

#include <stdio.h>

/* A graph whose input is not defined by `external`, which is an error. */
#define INVALID_DOCUMENT "version 1.0;\ngraph g(x) -> (y)\n{\n    y = relu(x);\n}\n"

static int failures = 0;

static void expect(int is_true, const char* what) {
  if (is_true) return;
  printf("failed: %s\n", what);
  ++failures;
}

#endif
