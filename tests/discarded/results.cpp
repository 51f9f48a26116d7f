// Each line marked `discarded` ignores a result that may be a failure; run.py requires that the compiler
// reports it.
#include "compiler/driver/data/quantization.h"
#include "compiler/driver/fix.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/stages/upgrade_model.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/interval.h"
#include "compiler/openvino/write.h"
#include "compiler/plugin/shared_library.h"
#include "compiler/support/diagnostics/apply_fixes.h"
#include "compiler/upgrade/upgrade.h"
#include "runtime/engine/plan/prepare_graph.h"
#include "runtime/kernels/fault.h"
#include "tools/api/program.h"
#include "tools/api/report.h"

namespace nnefc {

template <typename Result>
Result Make();

void Discard() {
  Make<ErrorOr<int>>();                          // discarded
  Make<ErrorOr<Success, std::string>>();         // discarded
  Make<SystemError>();                           // discarded
  Make<runtime::kernels::FaultOr<int>>();        // discarded
  Make<runtime::kernels::FaultOr<Success>>();    // discarded
  Make<runtime::kernels::Fault>();               // discarded
  Make<runtime::engine::plan::PreparedGraph>();  // discarded
  Make<plugin::LoadError>();                     // discarded
  Make<api::Report>();                           // discarded
  Make<api::Outcome<int>>();                     // discarded
  Make<package::ModelOpenResult>();              // discarded
  Make<semantics::CheckedDocument>();            // discarded
  Make<driver::ModelQuantization>();             // discarded
  Make<semantics::AddedLibraryReport>();         // discarded
  Make<expand::ExpandedDocument>();              // discarded
  Make<driver::Opened>();                        // discarded
  Make<driver::Parsed>();                        // discarded
  Make<driver::Checked>();                       // discarded
  Make<driver::Expanded>();                      // discarded
  Make<driver::Lowered>();                       // discarded
  Make<api::Planned>();                          // discarded
  Make<ir::InferredNode>();                      // discarded
  Make<ir::BroadcastResult>();                   // discarded
  Make<openvino::OpenVinoInMemory>();            // discarded
  Make<AppliedFixes>();                          // discarded
  Make<driver::FixReport>();                     // discarded
  Make<driver::UpgradedTexts>();                 // discarded
  Make<upgrade::UpgradedDocument>();             // discarded
  (void)Make<ErrorOr<int>>();
  (void)Make<api::Report>();
  Make<int>();
}

}  // namespace nnefc
