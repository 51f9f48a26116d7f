"""Features of the processor of this machine."""

from __future__ import annotations

from pathlib import Path


def _text() -> str:
    return Path("/proc/cpuinfo").read_text()


def has_lanes() -> bool:
    """True if our vectorised kernels run here."""
    return "avx2" in _text()


def has_bf16() -> bool:
    return "avx512_bf16" in _text()


def has_fast_bf16() -> bool:
    """True if `--precision bf16` computes in bf16. It is f32 on Intel's processors with AVX512-FP16 but without AMX,
    whose bf16 multiplications are slow."""
    text = _text()
    return has_bf16() and ("GenuineIntel" not in text or "amx_tile" in text or "avx512_fp16" not in text)


def bf16_environment() -> dict[str, str]:
    """Returns an environment in which `--precision bf16` uses bf16 on any processor that has it."""
    return {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"} if has_bf16() and not has_fast_bf16() else {}


def has_wide_vnni() -> bool:
    text = _text()
    return all(name in text for name in ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"))
