// The instructions of this processor that kernels use, within the limit of the environment variable
// ONEDNN_MAX_CPU_ISA.
#pragma once

#include "runtime/fast/simd/instruction_sets.h"
#include "runtime/kernels/backend.h"

namespace nnefc::runtime::fast {

simd::InstructionLimit NamedInstructionLimit();

// Returns true if AVX-512 may be used.
bool HasAvx512();
// Returns true if the processor has bf16 instructions.
bool HasBf16();
// Returns true if the processor multiplies tiles of bf16 and int8, and the system permits it.
bool HasAmx();
// Returns true if the processor has VNNI, which accumulates int8 products in i32. Other processors add pairs
// in i16, which may saturate.
bool HasVnni();

// Returns the effective precision: f32 for bf16 if the processor lacks bf16 instructions, or multiplies f32
// faster and the user did not name an instruction set.
kernels::Precision EffectivePrecision(kernels::Precision precision);

}  // namespace nnefc::runtime::fast
