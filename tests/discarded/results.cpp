// Each line marked `discarded` ignores a result that may be a failure; run.py requires that the compiler
// reports it.
#include "compiler/driver/fix.h"
#include "compiler/driver/quantization.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/upgrade_model.h"
#include "compiler/ir/infer.h"
#include "compiler/ir/interval.h"
#include "compiler/openvino/write.h"
#include "compiler/plugin/shared_library.h"
#include "compiler/support/apply_fixes.h"
#include "compiler/upgrade/upgrade.h"
#include "runtime/engine/prepare_graph.h"
#include "runtime/kernels/fault.h"
#include "tools/api/program.h"
#include "tools/api/report.h"

namespace nnefc {

template <typename Result>
Result Make();

void Discard() {
  Make<ErrorOr<int>>();                   // discarded
  Make<ErrorOr<Success, std::string>>();  // discarded
  Make<SystemError>();                    // discarded
  Make<runtime::FaultOr<int>>();          // discarded
  Make<runtime::FaultOr<Success>>();      // discarded
  Make<runtime::Fault>();                 // discarded
  Make<runtime::PreparedGraph>();         // discarded
  Make<plugin::LoadError>();              // discarded
  Make<api::Report>();                    // discarded
  Make<api::Outcome<int>>();              // discarded
  Make<ModelOpenResult>();                // discarded
  Make<CheckedDocument>();                // discarded
  Make<ModelQuantization>();              // discarded
  Make<AddedLibraryReport>();             // discarded
  Make<ExpandedDocument>();               // discarded
  Make<Opened>();                         // discarded
  Make<Parsed>();                         // discarded
  Make<Checked>();                        // discarded
  Make<Expanded>();                       // discarded
  Make<Lowered>();                        // discarded
  Make<api::Planned>();                   // discarded
  Make<ir::InferredNode>();               // discarded
  Make<ir::BroadcastResult>();            // discarded
  Make<OpenVinoInMemory>();               // discarded
  Make<AppliedFixes>();                   // discarded
  Make<FixReport>();                      // discarded
  Make<UpgradedTexts>();                  // discarded
  Make<UpgradedDocument>();               // discarded
  (void)Make<ErrorOr<int>>();
  (void)Make<api::Report>();
  Make<int>();
}

}  // namespace nnefc
