"""The formulas of chapter 4, element by element, in 64-bit floats, written for reading next to the text and not for
speed.

`clip` is the ratified calculation of padding, which replaces negative results by zero; `to` is `output_shape`.
"""

import numpy as np


def at(a, idx, border, empty=0.0):
    out = []
    for i, z in zip(idx, a.shape):
        i = int(i)
        if not 0 <= i < z:
            if border == 'constant': return 0.0
            if border == 'ignore': return empty
            if border == 'replicate': i = 0 if i < 0 else z - 1
            elif border == 'reflect': i = -i if i < 0 else z - 1 - (i - z + 1)
            elif border == 'reflect-even': i = -i - 1 if i < 0 else z - 1 - (i - z)
        out.append(i)
    return a[tuple(out)]


def fill(v, n, one=1): return list(v) + [one] * (n - len(v))


def raised(a, n): return a.reshape(a.shape + (1,) * (n - a.ndim))


def down(X, f, s, d, pq, clip):
    fd = (f - 1) * d + 1
    if pq is None:
        x = -(-X // s); t = (x - 1) * s + fd - X
        if clip: t = max(t, 0)
        pq = (t // 2, t - t // 2)
    assert pq[0] + X + pq[1] >= fd
    return (pq[0] + X + pq[1] - fd) // s + 1, pq


def up(x, f, s, d, pq, clip, X=None):
    fd = (f - 1) * d + 1
    if pq is None:
        t = (x - 1) * s + fd - (x * s if X is None else X)
        if clip: t = max(t, 0)
        pq = (t // 2, t - t // 2)
        if X is None: X = x * s
    return ((x - 1) * s + fd - sum(pq) if X is None else X), pq


def geometry(fn, shape, f, s, d, padding, clip, to=None):
    pads = fill(padding, len(shape), None)
    r = [fn(*a, clip, *([] if fn is down else [to and to[k]])) for k, a in enumerate(zip(shape, f, s, d, pads))]
    return [e[0] for e in r], [e[1][0] for e in r]


def left(b, n): return np.reshape(b, np.shape(b) + (1,) * (n - np.ndim(b)))


def conv(x, w, b=0.0, border='constant', padding=(), stride=(), dilation=(), groups=1, clip=False):
    n = max(x.ndim, w.ndim, 2 + len(padding), 2 + len(stride), 2 + len(dilation))
    x, w = raised(x, n), raised(w, n)
    f, s, d = w.shape[2:], fill(stride, n - 2), fill(dilation, n - 2)
    out, p = geometry(down, x.shape[2:], f, s, d, padding, clip)
    G = groups or x.shape[1]
    c, cg = w.shape[0] // G, w.shape[1]
    y = np.zeros((x.shape[0], w.shape[0], *out))
    for i in np.ndindex(*y.shape):
        g = i[1] // c
        for k in range(cg):
            for j in np.ndindex(*f):
                pos = [i[2 + a] * s[a] + j[a] * d[a] - p[a] for a in range(n - 2)]
                y[i] += at(x[i[0], g * cg + k], pos, border) * w[(i[1], k, *j)]
    return y + left(b, n)


def deconv(x, w, b=0.0, border='constant', padding=(), stride=(), dilation=(), groups=1, clip=False, to=None):
    n = max(x.ndim, w.ndim, 2 + len(padding), 2 + len(stride), 2 + len(dilation))
    x, w = raised(x, n), raised(w, n)
    f, s, d = w.shape[2:], fill(stride, n - 2), fill(dilation, n - 2)
    out, p = geometry(up, x.shape[2:], f, s, d, padding, clip, to and to[2:])
    C = w.shape[1]
    G = groups or x.shape[1]
    c = w.shape[0] // G
    y = np.zeros((x.shape[0], C * G, *out))
    for i in np.ndindex(*y.shape):
        g, k1 = divmod(i[1], C)
        for k2 in range(c):
            for j in np.ndindex(*f):
                num = [i[2 + a] + p[a] - j[a] * d[a] for a in range(n - 2)]
                if any(v % s[a] for a, v in enumerate(num)): continue
                pos = [v // s[a] for a, v in enumerate(num)]
                y[i] += at(x[i[0], g * c + k2], pos, border) * w[(g * c + k2, k1, *j)]
    return y + left(b, n)


def window(x, size, padding, stride, dilation, clip):
    n = max(x.ndim, len(size), len(padding), len(stride), len(dilation))
    x = raised(x, n)
    f, s, d = fill(size, n), fill(stride, n), fill(dilation, n)
    out, p = geometry(down, x.shape, f, s, d, padding, clip)
    return n, x, f, s, d, out, p


def box(x, size, border='constant', padding=(), stride=(), dilation=(), normalize=False, clip=False):
    n, x, f, s, d, out, p = window(x, size, padding, stride, dilation, clip)
    y = np.zeros(out)
    for i in np.ndindex(*out):
        v = [at(x, [i[a] * s[a] + j[a] * d[a] - p[a] for a in range(n)], border, None) for j in np.ndindex(*f)]
        v = [e for e in v if e is not None]
        y[i] = sum(v) / (len(v) or 1 if normalize else 1)
    return y


def debox(x, size, border='constant', padding=(), stride=(), dilation=(), normalize=False, clip=False, to=None):
    n = max(x.ndim, len(size), len(padding), len(stride), len(dilation))
    x = raised(x, n)
    f, s, d = fill(size, n), fill(stride, n), fill(dilation, n)
    out, p = geometry(up, x.shape, f, s, d, padding, clip, to)
    y = np.zeros(out)
    for i in np.ndindex(*out):
        for j in np.ndindex(*f):
            num = [i[a] + p[a] - j[a] * d[a] for a in range(n)]
            if any(v % s[a] for a, v in enumerate(num)): continue
            y[i] += at(x, [v // s[a] for a, v in enumerate(num)], border)
    return y / np.prod(f) if normalize else y


def argmax_pool(x, size, border='constant', padding=(), stride=(), dilation=(), clip=False):
    n, x, f, s, d, out, p = window(x, size, padding, stride, dilation, clip)
    y = np.zeros(out, int)
    for i in np.ndindex(*out):
        v = [at(x, [i[a] * s[a] + j[a] * d[a] - p[a] for a in range(n)], border, -np.inf) for j in np.ndindex(*f)]
        y[i] = int(np.argmax(v))
    return y


def sample(x, index, size, border='constant', padding=(), stride=(), dilation=(), clip=False):
    n, x, f, s, d, out, p = window(x, size, padding, stride, dilation, clip)
    y = np.zeros(out)
    for i in np.ndindex(*out):
        j = np.unravel_index(int(index[i]), f)
        y[i] = at(x, [i[a] * s[a] + j[a] * d[a] - p[a] for a in range(n)], border, -np.inf)
    return y


def max_pool(x, size, **k): return sample(x, argmax_pool(x, size, **k), size, **k)


def desample(x, index, size, padding=(), stride=(), dilation=(), clip=False, to=None):
    n = max(x.ndim, len(size), len(padding), len(stride), len(dilation))
    x, index = raised(x, n), raised(index, n)
    f, s, d = fill(size, n), fill(stride, n), fill(dilation, n)
    out, p = geometry(up, x.shape, f, s, d, padding, clip, to)
    y = np.zeros(out)
    for i in np.ndindex(*x.shape):
        j = np.unravel_index(int(index[i]), f)
        pos = tuple(i[a] * s[a] + j[a] * d[a] - p[a] for a in range(n))
        if all(0 <= v < z for v, z in zip(pos, out)): y[pos] += x[i]
    return y


def upsample(x, factor, method='symmetric', border='replicate'):
    n = max(x.ndim, 2 + len(factor)); x = raised(x, n)
    for a, f in enumerate(factor):
        a += 2; z = x.shape[a]; y = np.zeros(x.shape[:a] + (z * f,) + x.shape[a + 1:])
        m = np.moveaxis(x, a, 0); o = np.moveaxis(y, a, 0)
        for i in range(z * f):
            t = i / f if method == 'asymmetric' else (i - (f - 1) / 2) / f if method == 'symmetric' else i * (z - 1) / (z * f - 1)
            j = int(np.floor(t)); u = t - j
            def get(k):
                if 0 <= k < z: return m[k]
                if border == 'constant': return 0 * m[0]
                if border == 'replicate' or method == 'aligned': return m[min(max(k, 0), z - 1)]
                k = (-k if k < 0 else 2 * z - 2 - k) if border == 'reflect' else (-k - 1 if k < 0 else 2 * z - 1 - k)
                return m[k]
            o[i] = (1 - u) * get(j) + u * get(j + 1)
        x = y
    return x


def total(x, axes, mean=False):
    axes = tuple(a for a in axes if a < x.ndim)
    s = x.sum(axis=axes, keepdims=True) if axes else x
    return s / np.prod([x.shape[a] for a in axes]) if mean and axes else s


def softmax(x, axes=(1,)):
    axes = tuple(a for a in axes if a < x.ndim)
    e = np.exp(x - x.max(axis=axes, keepdims=True)) if axes else x * 0 + 1
    return e / (e.sum(axis=axes, keepdims=True) if axes else e)


def rnd(x): return np.floor(np.asarray(x) + 0.5)


def clamp(x, a, b): return np.maximum(np.minimum(x, b), a)


def L(n, *v): return [left(e, n) for e in v]


def linear_quantize(x, lo, hi, bits):
    lo, hi = left(lo, x.ndim), left(hi, x.ndim); z = clamp(x, lo, hi); r = (2 ** bits - 1) / (hi - lo)
    return rnd((z - lo) * r) / r + lo


def log_quantize_p(x, hi, bits):
    hi = left(hi, x.ndim); amax = 2.0 ** np.ceil(np.log2(hi)); amin = 2.0 ** (np.log2(amax) - bits)
    return 2.0 ** rnd(np.log2(clamp(x, amin, amax) / amin))


def lrn(x, size, alpha=1.0, beta=0.5, bias=1.0, clip=False):
    x = raised(x, max(x.ndim, len(size)))
    return x / (bias + alpha * box(x * x, size, normalize=True, clip=clip)) ** beta
