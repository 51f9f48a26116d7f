#include "tools/nnefc/program.h"

// nnefc: checks, expands, compiles and runs NNEF models.
int main(int argc, char** argv) {
  return nnefc::cli::RunProgram(argc, argv);
}
