#!/usr/bin/env python3
"""Writes choices.txt: requests at each threshold of the implementation tables, with the expected implementation.

The ids follow from the thresholds that runtime/fast documents in its cost functions, not from the output of nnefc:
    tests/unit/runtime/fast/make_choices.py > tests/unit/runtime/fast/choices.txt
"""

import math

BLOCK = 16  # channels of a block
PROCESSORS = ("avx2", "avx512", "vnni")
WIDE = ("avx512", "vnni")


def around(*values: int) -> list[int]:
    """Returns each threshold with both neighbours."""
    return sorted({value + step for value in values for step in (-1, 0, 1)})


def extents(numbers) -> str:
    return ",".join(str(number) for number in numbers)


def emit(words: str, choose, threads=(1, 2)) -> None:
    for count in threads:
        expected = " ".join(f"{processor}={choose(processor, count)}" for processor in PROCESSORS)
        print(f"{words} threads={count} | {expected}")


def output_extent(size: int, taps: int, stride: int, pad: int, dilation: int) -> int:
    return (size + 2 * pad - dilation * (taps - 1) - 1) // stride + 1


# --- Convolution ----------------------------------------------------------------------

def winograd_cycles(tiles: int, inputs: int, outputs: int, processor: str, threads: int) -> float:
    """Returns the cycles of a Winograd convolution per term and block of outputs (TimeComparedWithDirect). Requires a
    filter of more than 655,360 transformed elements: smaller ones depend on the size of the L2 cache."""
    tile_rows = 6 if processor == "avx2" else 14
    term_blocks = math.ceil(inputs / BLOCK)
    assert 36 * inputs * math.ceil(outputs / 32) * 32 > 655360
    floats_of_tile = 36 * (term_blocks + 2) * BLOCK
    together = min(max(1048576 // floats_of_tile, 4 * tile_rows), 64 * tile_rows) // tile_rows * tile_rows
    count = math.ceil(tiles / together)
    groups = count if count < threads else math.ceil(count / threads) * threads
    of_tile = 40 + 150 / (math.ceil(outputs / BLOCK) * BLOCK) + 130 / inputs
    return tiles * of_tile + 300 * groups


def choose_winograd(x, w, pad: int, dilation: int, processor: str, threads: int) -> bool:
    """Returns whether Winograd is faster than direct convolution."""
    images, inputs, rows, columns = x
    taps = w[2]
    out_rows = output_extent(rows, taps, 1, pad, dilation)
    out_columns = output_extent(columns, taps, 1, pad, dilation)
    tiles_of = lambda extent: math.ceil(math.ceil(extent / dilation) / (7 - taps))
    tiles = images * dilation * dilation * tiles_of(out_rows) * tiles_of(out_columns)
    return winograd_cycles(tiles, inputs, w[0], processor, threads) < 9.3 / 9 * taps ** 2 * images * out_rows * out_columns


def conv(x, w, processor: str, threads: int, stride=1, pad=0, dilation=1, constant=True, exact=False) -> str:
    images, inputs, rows, columns = x
    outputs, _, height, width = w
    wide = processor in WIDE
    out_rows = output_extent(rows, height, stride, pad, dilation)
    out_columns = output_extent(columns, width, stride, pad, dilation)
    covers = constant and pad == 0 and (out_rows, out_columns) == (1, 1) and (height, width) == (rows, columns) \
        and (dilation == 1 or height * width == 1)
    if covers:
        if images == 1 and 4 * outputs * inputs * height * width >= (1 << 20 if wide else 1 << 10):
            return "gemv"
        return "onednn_matmul" if images >= 8 and wide else "onednn_inner_product"
    is_pixel = height * width == 1 and pad == 0
    if constant and is_pixel and stride == 1 and min(inputs, outputs) >= BLOCK:
        return "pointwise"
    if constant and not exact and height == width and height in (2, 3) and stride == 1 and min(inputs, outputs) >= BLOCK \
            and choose_winograd(x, w, pad, dilation, processor, threads):
        return "winograd"
    is_identity = is_pixel and stride == 1
    if constant and stride == 1 and outputs <= (7 if wide and out_rows * out_columns <= 1 << 14 else 12) and (rows * columns if is_identity else out_columns) >= 6:
        return "few_outputs"
    fills_badly = out_columns >= 4 and math.ceil(out_columns / math.ceil(out_columns / 6)) <= 4
    patches = images * out_rows * out_columns * inputs * height * width
    if constant and not wide and outputs >= BLOCK and inputs % BLOCK == 0 and (is_pixel or fills_badly) \
            and patches <= 4 << 20:
        return "im2col"
    if constant and outputs >= BLOCK:
        return "direct"
    return "onednn"


def emit_conv(x, w, **options) -> None:
    words = f"op=Convolution x={extents(x)} w={extents(w)}"
    for key in ("stride", "pad", "dilation"):
        if key in options:
            words += f" {key}={options[key]}"
    if not options.get("constant", True):
        words += " constant=0"
    if options.get("exact"):
        words += " exact=1"
    emit(words, lambda processor, threads: conv(x, w, processor, threads, **options))


def convolutions() -> None:
    print("# Convolution: one row times a matrix in place, from 1 KiB (AVX2) or 1 MiB (AVX-512)")
    for outputs in around(16):
        emit_conv((1, 16, 1, 1), (outputs, 16, 1, 1))
    for outputs in around(256):
        emit_conv((1, 256, 2, 2), (outputs, 256, 2, 2))
    print("# Convolution: rows of an inner product for oneDNN's matmul: 8")
    for images in around(8):
        emit_conv((images, 24, 3, 3), (40, 24, 3, 3))
    print("# Convolution: 1x1 filters as GEMM, with whole blocks of channels")
    for channels in around(BLOCK):
        emit_conv((1, channels, 9, 9), (48, channels, 1, 1))
        emit_conv((1, 48, 9, 9), (channels, 48, 1, 1))
    for stride in around(2):
        emit_conv((1, 32, 9, 9), (48, 32, 1, 1), stride=stride)
    for pad in (0, 1):
        emit_conv((1, 32, 9, 9), (48, 32, 1, 1), pad=pad)
    print("# Convolution: Winograd, where its model is below direct convolution")
    for size in range(1, 33):
        emit_conv((1, 256, size, size), (256, 256, 3, 3), pad=1)
    for size in (5, 7, 11, 13, 14, 20, 27):
        emit_conv((2, 512, size, size), (128, 512, 3, 3), pad=1)
        emit_conv((1, 512, size + 2, size), (128, 512, 3, 3), pad=2, dilation=2)
        emit_conv((1, 256, size, size), (256, 256, 3, 3), pad=1, exact=True)
    for taps in around(3):
        emit_conv((1, 256, 28, 28), (256, 256, taps, taps))
    for stride in around(2):
        emit_conv((1, 256, 28, 28), (256, 256, 3, 3), stride=stride)
    print("# Convolution: direct convolution with few outputs: 7 (AVX-512) or 12 (AVX2), and rows of 6 pixels")
    for outputs in around(7, 12):
        emit_conv((1, 24, 9, 9), (outputs, 24, 3, 3), pad=1)
    for rows in around(1 << 10):
        emit_conv((1, 8, rows, 16), (12, 8, 1, 1))
    for columns in around(6):
        emit_conv((1, 24, 9, columns), (5, 24, 3, 3), pad=1)
        emit_conv((1, 24, 1, columns), (5, 24, 1, 1))
    for stride in around(2):
        emit_conv((1, 24, 19, 19), (5, 24, 3, 3), pad=1, stride=stride)
    print("# Convolution: im2col for rows that fill the tiles of AVX2 badly, up to 4 Mi elements")
    for columns in range(2, 27):
        emit_conv((1, 32, 8, columns), (48, 32, 5, 5), pad=2)
    for inputs in (16, 17, 31, 32, 33):
        emit_conv((1, inputs, 8, 7), (48, inputs, 5, 5), pad=2)
    for outputs in around(BLOCK):
        emit_conv((1, 32, 8, 7), (outputs, 32, 5, 5), pad=2)
    for rows in around(4 << 20 >> 4 >> 10):
        emit_conv((1, 4096, 2 * rows, 2), (16, 4096, 1, 1), stride=2)
    print("# Convolution: a filter that is not constant")
    for outputs in around(BLOCK):
        emit_conv((1, 32, 8, 8), (outputs, 32, 3, 3), pad=1, constant=False)


# --- ConvolutionBackpropData ----------------------------------------------------------

def transposed_conv(images: int, inputs: int, outputs: int, extent: int, processor: str, threads: int) -> str:
    """Windows of 4x4, strides of 2 and a border of 1: four convolutions by 2x2 taps, with one more row and column."""
    results = extent + 1
    tiles = images * math.ceil(results / 5) ** 2
    filled = outputs / (math.ceil(outputs / 32) * 32)
    cycles = winograd_cycles(tiles, inputs, 4 * math.ceil(outputs / BLOCK) * BLOCK, processor, threads)
    time = cycles / (9.3 / 9 * 4 * images * results ** 2) * 1.2 * (1 + 1 / filled) / 2
    return "winograd" if time < 1 else "onednn"


def transposed_convolutions() -> None:
    print("# ConvolutionBackpropData: Winograd for images of whole tiles, and of outputs that fill their tiles")
    cases = [(1, 256, 128, extent) for extent in range(6, 20)] + [(1, 192, outputs, 19) for outputs in (32, 33, 40, 48, 64, 80)]
    for images, inputs, outputs, extent in cases + [(3, 64, 128, 8), (4, 64, 128, 9)]:
        emit(f"op=ConvolutionBackpropData x={images},{inputs},{extent},{extent} w={inputs},{outputs},4,4 stride=2 pad=1",
             lambda processor, threads: transposed_conv(images, inputs, outputs, extent, processor, threads))


# --- GroupConvolution -----------------------------------------------------------------

def border_share(extent: int, taps: int, pad: int, stride: int) -> float:
    """Returns the share of the rows of taps that are in the border."""
    output = output_extent(extent, taps, stride, pad, 1)
    seen = [0 <= row * stride + tap - pad < extent for row in range(output) for tap in range(taps)]
    return 1 - sum(seen) / len(seen)


def group_conv(x, w, processor: str, pad=1, stride=1, dilation=1) -> str:
    groups, outputs, inputs, height, width = w
    wide = processor in WIDE
    vector = 16 if wide else 8
    in_rows = height == width and width in (1, 3, 5) and stride in (1, 2) and dilation == 1
    fits_cache = groups >= BLOCK or (groups >= BLOCK // 2 and x[2] * x[3] <= 1 << 14)
    if (outputs, inputs) == (1, 1) and fits_cache and in_rows and border_share(x[2], height, pad, stride) < 0.25:
        return "depthwise_rows"
    if (outputs, inputs) == (1, 1) and fits_cache:
        return "depthwise"
    fills = inputs % vector == 0 and outputs % vector == 0
    fits = fills or (inputs == outputs and inputs in (4, 8))
    if fits and groups * min(inputs, outputs) >= BLOCK and width == 3 and dilation == 1 and stride <= 2 \
            and not (wide and fills and outputs > 16):
        return "grouped"
    if inputs % BLOCK == 0 and outputs % BLOCK == 0 and groups * outputs >= BLOCK:
        return "direct"
    return "onednn"


def bf16_convolutions() -> None:
    """With bf16 instructions, oneDNN's bf16 kernels come before all others except inner products."""
    def emit_bf16(x, w, expected, **options):
        words = "".join(f" {key}={value}" for key, value in options.items())
        emit(f"op=Convolution x={extents(x)} w={extents(w)}{words} bf16=1", lambda processor, threads: expected)

    print("# bf16 Convolution, on processors with bf16 instructions")
    for size in (7, 14, 28, 56):
        emit_bf16((1, 256, size, size), (256, 256, 3, 3), "onednn_bf16", pad=1)
        emit_bf16((1, 64, size, size), (64, 64, 3, 3), "onednn_bf16", pad=1)
        emit_bf16((1, 64, size, size), (64, 64, 1, 1), "onednn_bf16")
    for images in around(8):
        emit_bf16((images, 64, 3, 3), (48, 64, 3, 3), "onednn_matmul" if images >= 8 else "onednn_inner_product")


def f32_images_with_bf16() -> None:
    """The times of Bf16ConvolutionCost: bf16 multiplication pays for rounding the patches with enough outputs."""
    def padded(channels: int) -> int:
        return math.ceil(channels / BLOCK) * BLOCK

    def is_bf16(inputs: int, outputs: int, taps: int) -> bool:
        speed = {1: 110, 2: 200}.get(padded(outputs) // BLOCK, 230)
        terms = taps * padded(inputs)
        in_bf16 = terms * padded(outputs) / speed + terms * (0.06 if taps == 1 else 0.08) + 0.12 * padded(outputs)
        return in_bf16 <= padded(outputs) * (taps * inputs / 115 + 0.09)

    print("# Convolution of f32 images with bf16 multiplication, on processors with bf16 instructions")
    for inputs in (8, 15, 16, 17, 32, 48, 128):
        for outputs in (16, 17, 32, 33, 48, 128):
            for taps, slow in ((1, "pointwise"), (3, "direct")):
                if taps == 1 and inputs < BLOCK:
                    slow = "direct"
                expected = "bf16_gemm" if is_bf16(inputs, outputs, taps * taps) else slow
                stride = "" if taps == 1 else " stride=2"
                emit(f"op=Convolution x=1,{inputs},20,20 w={outputs},{inputs},{taps},{taps}{stride} bf16=1 f32_images=1",
                     lambda processor, threads: expected)


def group_convolutions() -> None:
    def emit_group(x, w, **options):
        words = f"op=GroupConvolution x={extents(x)} w={extents(w)}"
        words += "".join(f" {key}={value}" for key, value in ({"pad": 1} | options).items())
        emit(words, lambda processor, threads: group_conv(x, w, processor, **options))

    print("# GroupConvolution: depthwise, from half a block of channels")
    for groups in around(BLOCK // 2, BLOCK):
        emit_group((1, groups, 9, 9), (groups, 1, 1, 3, 3))
    print("# GroupConvolution: depthwise in rows, for windows of 3 or 5 with little border")
    for taps in (1, 2, 3, 4, 5, 6, 7):
        for stride in (1, 2, 3):
            emit_group((1, BLOCK, 19, 19), (BLOCK, 1, 1, taps, taps), stride=stride)
    emit_group((1, BLOCK, 19, 19), (BLOCK, 1, 1, 3, 5))
    emit_group((1, BLOCK, 19, 19), (BLOCK, 1, 1, 5, 3))
    for taps, pad, quarter in ((3, 1, 3), (5, 2, 5), (5, 4, 12)):
        for rows in around(quarter):
            emit_group((1, BLOCK, rows, 19), (BLOCK, 1, 1, taps, taps), pad=pad)
    print("# GroupConvolution: depthwise, images of less than a block up to 16,384 pixels")
    for rows in around(1 << 14):
        emit_group((1, BLOCK - 1, rows, 1), (BLOCK - 1, 1, 1, 3, 3))
        emit_group((1, BLOCK - 1, rows, 1), (BLOCK - 1, 1, 1, 3, 3), dilation=2, pad=2)
        emit_group((1, BLOCK, rows, 1), (BLOCK, 1, 1, 3, 3), dilation=2, pad=2)
    print("# GroupConvolution: groups that fill vectors, alone or together")
    for inputs in (3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48):
        emit_group((1, 4 * inputs, 9, 9), (4, inputs, inputs, 3, 3))
    for groups in around(2, 4):
        emit_group((1, 8 * groups, 9, 9), (groups, 8, 8, 3, 3))
    for outputs in (8, 16, 24, 32):
        emit_group((1, 32, 9, 9), (2, outputs, 16, 3, 3))
    print("# GroupConvolution: windows of three columns with strides of at most two")
    for stride in around(2):
        emit_group((1, 64, 19, 19), (4, 16, 16, 3, 3), stride=stride)
    for dilation in (1, 2):
        emit_group((1, 64, 19, 19), (4, 16, 16, 3, 3), dilation=dilation)
    for taps in around(3):
        emit_group((1, 64, 19, 19), (4, 16, 16, 3, taps))


# --- MatMul ---------------------------------------------------------------------------

def matmul(rows: int, inputs: int, outputs: int, transposed: bool, processor: str) -> str:
    wide = processor in WIDE
    if rows == 1 and transposed and 4 * inputs * outputs >= (1 << 20 if wide else 1 << 10):
        return "gemv"
    if rows >= (32 if wide else 8):
        return "gemm"
    return "onednn_matmul" if rows >= 8 else "onednn_inner_product"


def matmuls() -> None:
    def emit_matmul(rows, inputs, outputs, transposed):
        emit(f"op=MatMul x={rows},{inputs} w={extents((outputs, inputs) if transposed else (inputs, outputs))}"
             f" transposed={int(transposed)}",
             lambda processor, threads: matmul(rows, inputs, outputs, transposed, processor))

    print("# MatMul: one row times a matrix in place, from 1 KiB (AVX2) or 1 MiB (AVX-512)")
    for outputs in around(16):
        emit_matmul(1, 16, outputs, True)
    for outputs in around(512):
        emit_matmul(1, 512, outputs, True)
        emit_matmul(1, 512, outputs, False)
    print("# MatMul: operands that are not packed, of each rank and order")
    for x, w in ((3, 5), (5, 4)), ((2, 3, 5), (5, 4)), ((2, 3, 5), (2, 5, 4)), ((3, 5), (2, 5, 4)), ((2, 1, 3, 5), (7, 5, 4)):
        for transposed_a in (0, 1):
            for transposed in (0, 1):
                is_packed = (transposed_a, len(w)) == (0, 2)
                left = x[:-2] + x[:-3:-1] if transposed_a else x
                right = w[:-2] + w[:-3:-1] if transposed else w
                for constant in (0, 1):
                    if is_packed and constant:
                        continue
                    emit(f"op=MatMul x={extents(left)} w={extents(right)} transposed_a={transposed_a}"
                         f" transposed={transposed} constant={constant}",
                         lambda processor, threads: "onednn_general", threads=(1,))
    for x, w in ((5,), (5, 4)), ((3, 5), (5,)), ((5,), (5,)):
        emit(f"op=MatMul x={extents(x)} w={extents(w)} constant=0", lambda processor, threads: "none", threads=(1,))
    print("# MatMul: GEMM from 8 (AVX2) or 32 rows (AVX-512), oneDNN's matmul from 8")
    for rows in around(2, 8, 32):
        emit_matmul(rows, 96, 80, True)
        emit_matmul(rows, 96, 80, False)


# --- int8 -----------------------------------------------------------------------------

def int8_conv(x, w, processor: str, folded: bool, pad: int, magnitude: int) -> str:
    images, inputs, rows, columns = x
    outputs, _, height, width = w
    out_rows, out_columns = (output_extent(size, height, 1, pad, 1) for size in (rows, columns))
    pixels = out_rows * out_columns
    if processor == "vnni":
        few = images * pixels <= 64
        if height * width == 1:
            worth = few or (images * pixels <= 256 and inputs >= 192) or (images * pixels <= 1024 and inputs >= 512)
        else:
            worth = (few or (images * pixels <= 1024 and outputs <= 64)) and inputs >= 128
        if not folded:
            worth = height * width * inputs <= (1024 if height * width == 1 else 256)
        vectors, quads = math.ceil(width * inputs / 64), math.ceil(width * inputs / 4)
        if not folded and outputs <= 8 and outputs * (height * vectors + 3) < height * quads:
            return "int8_few_outputs"
        if inputs < 4 and width > 1:  # groups of four inputs of joined pixels, and of single ones
            worth = math.ceil(width * inputs / 4) <= 7 / 8 * width and (
                outputs % BLOCK == 0 and outputs * inputs * height * width <= 131072 if folded else worth)
            return "int8_dot4" if worth else "onednn_int8"
        return "int8_dot4" if (inputs % 4 == 0 or height * width == 1) and worth else "onednn_int8"
    if inputs % 4 == 0 and pixels >= 12 and height * width <= 9 and height * width * inputs >= 64:
        return "int8_dot4"
    return "int8_dot2"


def int8_convolutions() -> None:
    def emit_int8(x, w, folded=False, pad=0, magnitude=1 << 20):
        emit(f"op=Convolution x={extents(x)} w={extents(w)} pad={pad} int8={'folded' if folded else 'f32'}"
             f" magnitude={magnitude}",
             lambda processor, threads: int8_conv(x, w, processor, folded, pad, magnitude))

    print("# int8 Convolution: dot4 without VNNI from 12 pixels and 64 products, with channels in fours")
    for pixels in around(12):
        emit_int8((1, 64, 1, pixels), (32, 64, 1, 1))
    for inputs in (60, 61, 62, 63, 64, 65, 68):
        emit_int8((1, inputs, 4, 4), (32, inputs, 1, 1))
    for inputs in (4, 8, 12):
        emit_int8((1, inputs, 6, 6), (32, inputs, 3, 3), pad=1)
    print("# int8 Convolution: our kernels with VNNI, for few pixels and many channels")
    for channels in (124, 128, 132):
        for columns in around(64, 1024):
            for outputs in around(64):
                emit_int8((1, channels, 1, columns), (outputs, channels, 3, 3), folded=True, pad=1)
    for channels in (188, 192, 196, 508, 512, 516):
        for columns in around(64, 256, 1024):
            emit_int8((1, channels, 1, columns), (32, channels, 1, 1), folded=True)
    for folded in (False, True):
        emit_int8((1, 192, 8, 8), (32, 192, 1, 1), folded=folded)
    print("# int8 Convolution: our kernels with VNNI and f32 results, up to 256 products, or 1024 of one pixel")
    for inputs in (1016, 1020, 1023, 1024, 1025, 1028):
        emit_int8((1, inputs, 8, 8), (32, inputs, 1, 1))
    for inputs in (24, 28, 32):
        emit_int8((1, inputs, 8, 8), (32, inputs, 3, 3), pad=1)
    print("# int8 Convolution: few f32 results for each pixel with VNNI")
    for outputs in (1, *around(5), *around(8)):
        for inputs in (16, 64, 128, 256):
            for width in (1, 3):
                emit_int8((1, inputs, 8, 8), (outputs, inputs, width, width))
    emit_int8((1, 64, 8, 8), (4, 64, 3, 3), folded=True)
    print("# int8 Convolution: our kernels with VNNI for few channels, with at most 7/8 of the groups of oneDNN")
    for inputs, width in ((1, 3), (2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (3, 7), (3, 8)):
        for folded in (False, True):
            emit_int8((1, inputs, 16, 16), (32, inputs, width, width), folded=folded)
    for outputs in (15, 16, 17):
        emit_int8((1, 1, 12, 12), (outputs, 1, 3, 3), folded=True)
    for outputs in (2032, 2048, 2064):
        emit_int8((1, 1, 12, 12), (outputs, 1, 8, 8), folded=True)
    for height in around(64):
        emit_int8((1, 1, 70, 70), (32, 1, height, 4), folded=False)


def int8_depthwise_convolutions() -> None:
    def choose(columns, taps, stride, folded, processor, channels=32):
        if processor != "vnni":
            return "int8_depthwise"
        in_rows = taps in (1, 3, 5) and stride in (1, 2)
        if in_rows and (taps == 1 or (output_extent(columns, taps, 1, 1, 1) <= 32 if stride == 1 else channels <= 64)):
            return "mixed_depthwise"
        faster = not folded or taps > 3 or (stride == 1 and output_extent(columns, taps, stride, 1, 1) >= 14)
        return "int8_depthwise_dot4" if faster else "onednn_int8"

    print("# int8 GroupConvolution: our depthwise kernel with VNNI, for 14 columns or more than three taps in a row")
    for columns in around(7, 14, 28):
        for taps in (3, 4):
            for stride in (1, 2):
                for folded in (False, True):
                    emit(f"op=GroupConvolution x=1,32,9,{columns} w=32,1,1,{taps},{taps} pad=1 stride={stride}"
                         f" int8={'folded' if folded else 'f32'}",
                         lambda processor, threads: choose(columns, taps, stride, folded, processor), threads=(1,))
    print("# int8 GroupConvolution: rows of results, for windows of 1, rows of at most 32 results, or 64 channels with strides")
    for columns, taps in ((40, 1), (31, 3), (32, 3), (33, 3)):
        emit(f"op=GroupConvolution x=1,32,9,{columns} w=32,1,1,{taps},{taps} pad=1 int8=folded",
             lambda processor, threads: choose(columns, taps, 1, True, processor), threads=(1,))
    for channels in around(64):
        emit(f"op=GroupConvolution x=1,{channels},9,40 w={channels},1,1,3,3 pad=1 stride=2 int8=folded",
             lambda processor, threads: choose(40, 3, 2, True, processor, channels), threads=(1,))


def int8_matmuls() -> None:
    def choose(rows, inputs, folded, processor):
        if processor == "vnni":
            return "int8_dot4" if rows <= (1024 if folded else 64) else "onednn_int8"
        return "int8_dot4" if inputs % 4 == 0 and rows >= 12 and inputs >= 64 else "int8_dot2"

    print("# int8 MatMul: up to 1024 rows with VNNI, or 64 without other operations; dot4 without it from 12 rows and 64 products")
    for rows, inputs in [(rows, 96) for rows in around(12, 64, 1024)] + [(16, inputs) for inputs in (60, 63, 64, 65, 68)]:
        for folded in (False, True):
            emit(f"op=MatMul x={rows},{inputs} w={inputs},48 int8={'folded' if folded else 'f32'}",
                 lambda processor, threads: choose(rows, inputs, folded, processor), threads=(1,))


if __name__ == "__main__":
    print("# make_choices.py wrote this file: requests, and the id of the implementation for each processor.")
    convolutions()
    bf16_convolutions()
    f32_images_with_bf16()
    transposed_convolutions()
    group_convolutions()
    matmuls()
    int8_convolutions()
    int8_depthwise_convolutions()
    int8_matmuls()
