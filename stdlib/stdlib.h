#ifndef NNEFC_STDLIB_STDLIB_H_
#define NNEFC_STDLIB_STDLIB_H_

#include <span>
#include <string_view>

namespace nnefc::stdlib {

// Returns the text of `ratified.nnef`, the standard operations of the ratified dialect. It lives as long
// as the program.
std::string_view RatifiedLibraryText();

// Returns the text of `provisional.nnef`, the standard operations of the provisional dialect. It lives
// as long as the program.
std::string_view ProvisionalLibraryText();

// Returns the text of `control_flow.nnef`, the operations of the extension NNEFC_control_flow. It lives as
// long as the program.
std::string_view ControlFlowLibraryText();

// Returns the text of `opset.nnef`, the operations of the extension NNEFC_opset. It lives as long as the
// program.
std::string_view OpsetLibraryText();

// Returns the text of `layers.nnef`, the fragments of Appendix C of the provisional specification. It lives
// as long as the program.
std::string_view LayersLibraryText();

// Returns the text of `tract/core.nnef`, the operations of tract's registry tract_core. It lives as long as
// the program.
std::string_view TractCoreLibraryText();

// Returns the text of `tract/transformers.nnef`, those of tract_transformers. It lives as long as the
// program.
std::string_view TractTransformersLibraryText();

// Returns the text of `tract/onnx.nnef`, those of tract_onnx. It lives as long as the program.
std::string_view TractOnnxLibraryText();

// Returns the text of `tract/pulse.nnef`, those of tract_pulse. It lives as long as the program.
std::string_view TractPulseLibraryText();

// Returns the text of `tract/extra.nnef`, those of tract_extra. It lives as long as the program.
std::string_view TractExtraLibraryText();

// Returns every word (identifier, keyword, string) that the documents hold, once.
std::span<const std::string_view> LibraryWords();

}  // namespace nnefc::stdlib

#endif  // NNEFC_STDLIB_STDLIB_H_
