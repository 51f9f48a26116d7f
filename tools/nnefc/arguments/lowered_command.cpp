// The part shared by commands that lower a model.

#include "tools/nnefc/arguments/lowered_command.h"

#include "tools/api/forms/write_graph.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/arguments/transform_options.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {

void LoweredCommand::AddTo(CLI::App& command) {
  AddCommonOptions(command, *this, 1);
  AddQuantize(command, *this);
  command
      .add_option(
          "-o,--output", output,
          "net.xml writes OpenVINO IR (net.xml and net.bin), net.ir the text form (net.ir, and net.bin "
          "with the elements of large constants), which goes to standard output without it")
      ->type_name("FILE");
  AddTransformOptions(command, transform);
  AddRename(command, *this);
  command.add_option("--random-weights", random_weights, "the seed of data for variables that have none")
      ->type_name("SEED")
      ->check(NonNegative());
  CLI::Option* readers = command.get_option("MODEL");
  command
      .add_flag_function(
          "--list-transformations",
          [this, readers](int64_t) {
            list = true;
            readers->required(false);
          },
          "print all in the order in which they run, and do no more")
      ->trigger_on_parse();
  command
      .add_option("--custom-operations-config-update", updated_configuration,
                  "fill in the inputs and outputs that scopes of this configuration lack, and do no more")
      ->type_name("FILE");
  command.add_flag("--force", force, "write over the graph that is read");
}

int LoweredCommand::LowerAndWrite(std::string_view command,
                                  const std::function<void(const api::Program&)>& reported) {
  if (list) return ListTransformations(transform, *this);
  if (!updated_configuration.empty()) {
    if (!output.empty())
      throw MisuseError("`--custom-operations-config-update` writes no graph to `--output`");
    return UpdateConfiguration();
  }
  RequireOtherFile(*this, force);
  RequireExtension(
      output, {".xml", ".ir", ".txt"},
      fmt::format("`{}` writes OpenVINO IR to `.xml` and the text form to `.ir` or `.txt`", command));
  api::Program program(ShownModel(models.front()), LoweringOptions(!output.ends_with(".xml")));
  std::shared_ptr<const ir::Graph> form;
  if (RunStages(program, driver::Stage::kLower)) form = api::LoweredFormFor(program.compilation(), output);
  const int exit_code = Reporter(*this).Report(program);
  if (reported) reported(program);
  if (form != nullptr) Require(api::WriteLoweredForm(*form, output, WriteStdout));
  return exit_code;
}

driver::CompileOptions LoweredCommand::LoweringOptions(bool structure_only) const {
  driver::CompileOptions compile = compile_options(models.front());
  compile.random_weights = random_weights;
  compile.transform = transform;
  compile.structure_only = structure_only;
  compile.open.reads_data = true;
  return compile;
}

int LoweredCommand::UpdateConfiguration() const {
  api::Program program(ShownModel(models.front()), compile_options(models.front()));
  program.compilation().UpdateConfiguration(updated_configuration);
  return Reporter(*this).Report(program);
}

}  // namespace nnefc::cli
