"""What the processor of this machine has."""

from __future__ import annotations

from pathlib import Path


def _text() -> str:
    return Path("/proc/cpuinfo").read_text()


def has_lanes() -> bool:
    """Our loops in registers run here."""
    return "avx2" in _text()


def has_bf16() -> bool:
    return "avx512_bf16" in _text()


def has_fast_bf16() -> bool:
    """Intel's processors with tiles multiply bf16 slowly without them, so that `--precision bf16` is f32 there."""
    text = _text()
    return has_bf16() and ("GenuineIntel" not in text or "amx_tile" in text or "avx512_fp16" not in text)


def bf16_environment() -> dict[str, str]:
    """In which `--precision bf16` is bf16 on any processor that has it."""
    return {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"} if has_bf16() and not has_fast_bf16() else {}


def has_wide_vnni() -> bool:
    text = _text()
    return all(name in text for name in ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"))
