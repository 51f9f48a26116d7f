// The options of a comparison.

#include "tools/nnefc/arguments/tolerance.h"

#include "tools/nnefc/arguments/misuse.h"

namespace nnefc::cli {

void CompareOptions::AddTolerance(CLI::App& command) {
  tolerance_option =
      command
          .add_option("--tolerance", tolerance.word, "of max|a-b| / max|b|: bit for bit, 1e-6, 1e-4, 1e-2")
          ->type_name("WORD")
          ->check(OneOf({"exact", "close", "approximate", "very"}))
          ->capture_default_str();
}

void CompareOptions::Add(CLI::App& command) {
  CLI::Option* compare = command
                             .add_option("--compare", path,
                                         "an .npz with the expected outputs, or a .npy or .dat file with "
                                         "that of the only output: --compare out.npz")
                             ->type_name("FILE");
  AddTolerance(command);
  tolerance_option->needs(compare);
  command
      .add_option("--atol", tolerance.absolute,
                  "instead: |a-b| of each element is at most this, plus --rtol times |b|: --atol 1e-5")
      ->type_name("X")
      ->check(NonNegativeNumber())
      ->needs(compare)
      ->excludes(tolerance_option);
  command.add_option("--rtol", tolerance.relative, "as --atol, times |b|: --rtol 1e-3")
      ->type_name("X")
      ->check(NonNegativeNumber())
      ->needs(compare)
      ->excludes(tolerance_option);
  command
      .add_option("--top", tolerance.top,
                  "compare only the indices of the N largest values in each row (of the first axis), in any "
                  "order; with a "
                  "tolerance the values too: --top 5")
      ->type_name("N")
      ->check(Between(1, 1000))
      ->needs(compare);
}

api::Tolerance CompareOptions::MakeTolerance() const {
  api::Tolerance result = tolerance;
  result.bounds_values =
      !tolerance.top || tolerance_option->count() > 0 || tolerance.absolute || tolerance.relative;
  return result;
}

}  // namespace nnefc::cli
