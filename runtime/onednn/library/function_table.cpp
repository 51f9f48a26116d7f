// The only file of `libnnefc_onednn.so`.

#include "runtime/onednn/function_table.h"

namespace nnefc::runtime {

extern "C" {
extern const DnnlFunctions nnefc_dnnl_functions;
const DnnlFunctions nnefc_dnnl_functions = {
#define NNEFC_DNNL_ADDRESS(name) .name = &::name,
    NNEFC_DNNL_FUNCTIONS(NNEFC_DNNL_ADDRESS)
#undef NNEFC_DNNL_ADDRESS
};
}

}  // namespace nnefc::runtime
