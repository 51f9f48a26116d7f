"""Provisional models written from chapters 3 and 4 alone, with the formulas of their results.

A model has its fragments, a line `in x[2,3] w[4] -> y` for the head of the graph and its externals, and its statements.
"""

from __future__ import annotations

from chapter_formulas import *  # noqa: F403

MODELS: list[dict] = []


def M(name, section, doc, fn, dialect='P', **options):
    """Adds a model. Options: `weights`: shapes of variables by label; `values` and `data`: inputs, and shapes of open
    ones; `coarse`: integers; `indices`: the bound of integers; `forms`: forms that are tested in addition to the
    document itself."""
    MODELS.append(dict(name=name, section=section, doc=doc.strip('\n'), fn=fn, dialect=dialect, **options))


ALL = ('expand', 'lower', 'upgrade', 'compile', 'openvino')
NOT_RATIFIED = ('compile', 'openvino')  # positions as data, labels that ratified text lacks
NO_IR = ('expand', 'lower', 'upgrade')

# ---- chapter 3: the language
M('constant-arithmetic', '3.3.3', '''
fragment f(x: tensor, n: extent, k: scalar) -> (y: tensor) {
  a = scalar((2 ^ n - 1) / 2 * 2 - -n) + k ^ 2.0 / 4.0 - 1.0
  b = -k ^ 2.0 + 2.0 * -1.0 + 3.0
  y = x * a + b
}
in x[2,3] -> y
y = f(x, n = 4, k = 3.0)
''', lambda x: x * (14 + 4 + 9 / 4 - 1) + (-9 + 1))
M('truncation', '3.3.3', '''
fragment f(x: tensor, a: extent[]) -> (y: tensor) {
  q = [scalar(i / 2) + 0.5 * scalar(extent(scalar(i) / 2.0)) for i in a]
  y = add_n([x * k for k in q]) - q[0] * x
}
in x[3] -> y
y = f(x, a = [-3,-1,3,5])
''', lambda x: x * (0 - .5 + 1.5 + 3))
M('strings-choose', '3.3.3', '''
fragment act(x: tensor, kind: string) -> (y: tensor) {
  y = relu(x) if kind == 'relu' else leaky_relu(x, alpha = scalar(kind[5:])) if (kind[0] == 'l' if length_of(kind) > 5 else false) else (x if kind == '' else -x)
}
in x[2,4] -> y
y = concat([act(x, kind = k) for k in ['relu', 'leaky25e-2', '', 'leak']], axis = 1)
''', lambda x: np.concatenate([np.maximum(x, 0), np.where(x < 0, x / 4, x), x, -x], 1))
M('recursion-by-shape', '3.3.3', '''
fragment halves(x: tensor) -> (y: tensor) {
  y = halves(max_pool(x, size = [2], stride = [2], padding = [(0,0)])) if shape_of(x)[0] > 1 else x
}
fragment total(a: tensor[]) -> (s: tensor) { s = a[0] + total(a[1:]) if length_of(a) > 1 else a[0] }
in x[8,2] -> y, s
y = halves(x)
s = total([x, 1.0, y, x])
''', lambda x: (x.max(0, keepdims=True), 2 * x + 1 + x.max(0, keepdims=True)))
M('nested-loops', '3.3.3', '''
fragment f(x: tensor[], w: scalar[][]) -> (y: tensor[]) {
  y = [add_n([x[j] * w[i][j] for j in range_of(x) if w[i][j] != 0.0]) for i in range_of(w) if length_of(w[i]) == length_of(x)]
}
in x[3] w[3] -> p, q, r
[p, q, r] = f([x, w], w = [[1.0,2.0],[0.0,-1.0],[5.0],[0.5,0.0],[]])
''', lambda x, w: (x + 2 * w, -w, x / 2))
M('tuples-travel', '3.3.3', '''
fragment pairs(x: tensor) -> (p: (tensor,tensor)[], q: (tensor,tensor[])) {
  p = [(x, x * k) for k in [2.0, 3.0]]
  q = x - 1.0, [x, -x]
}
fragment use(a: (tensor,tensor), b: (tensor,tensor[])) -> (y: tensor) {
  s, [t, u] = b
  y = a[0] * 10.0 + a[1] + s * t - b[1][1] * u
}
fragment main(x: tensor) -> (y: tensor) {
  t = pairs(x)
  y = use(t[0][1], t[1])
}
in x[4] -> y
y = main(x)
''', lambda x: x * 10 + 3 * x + (x - 1) * x - x * x)
M('defaults-and-order', '3.3.1', '''
fragment f(a: tensor = 2.0, n: scalar = 3.0, b: tensor, c: tensor[] = [1.0, 0.5], d: (tensor,scalar) = (4.0, 5.0)) -> (y: tensor) {
  y = a * n - b * c[1] + d[0] * d[1]
}
in x[2] -> p, q, r
p = f(b = x)
q = f(n = 1.0, b = 0.0, a = x)
r = f(b = 1.0, c = [x, x], d = (x, 2.0))
''', lambda x: (6 - x / 2 + 20, x + 20, 6 - x + 2 * x))
M('tensor-operators', '3.3.3', '''
fragment f(x: tensor, w: tensor) -> (y: tensor, z: tensor) {
  b = x < w && !(x == w) || x >= 2.0 && w != 0.0
  y = select(b, -x ^ 2.0 + +w, (x - w) / 4.0)
  z = select(x <= w || !b, 2.0 * x * 3.0 - 1.0 - w, 2.0 ^ x)
}
in x[2,3] w[2,3] -> y, z
y, z = f(x, w)
''', lambda x, w: (lambda b: (np.where(b, -(x ** 2) + w, (x - w) / 4), np.where((x <= w) | ~b, 6 * x - 1 - w, 2.0 ** x)))(((x < w) & (x != w)) | ((x >= 2) & (w != 0))))
M('open-extents', '3.3.4', '''
fragment centred(x: tensor) -> (y: tensor) { y = x - mean_reduce(x, axes = [0,2]) }
in x[0,3,0] -> y
y = reshape(centred(x), shape = [0,-1])
''', lambda x: (x - x.mean((0, 2), keepdims=True)).reshape(2, 15), data=dict(x=(2, 3, 5)))
M('variables-by-label', '3.3.5', '''
fragment layer(x: tensor, n: extent, scope: string) -> (y: tensor) {
  w = variable(shape = [n, shape_of(x)[1]], label = scope + '/w')
  y = linear(x, w, variable(shape = [1,n], label = 'shared') if n == 2 else 0.5)
}
in x[3,2] -> y
y = layer(layer(layer(x, n = 2, scope = 'a'), n = 2, scope = 'A'), n = 4, scope = 'a/b')
''', lambda x, **v: ((x @ v['a/w'].T + v['shared']) @ v['A/w'].T + v['shared']) @ v['a/b/w'].T + .5,
  weights={'a/w': (2, 2), 'A/w': (2, 2), 'shared': (1, 2), 'a/b/w': (4, 2)}, forms=NOT_RATIFIED)

# ---- 4.1, 4.2
M('constants', '4.1.2', '''
in x[2,3] -> y, z, c
c = constant(shape = [2,1,2], value = [1.0,-2.0,0.5,4.0])
y = add(x, constant(shape = [1,3], value = [0.25]))
z = mul(x, c)
''', lambda x: (x + .25, x[:, :, None] * np.reshape([1, -2, .5, 4], (2, 1, 2)), np.reshape([1, -2, .5, 4], (2, 1, 2))))
M('unary', '4.2.1', '''
in x[3,5] -> a, b, c, d, e, f, g, h, i
a = idn(x) b = neg(x) c = rcp(add(abs(x), 0.5)) d = exp(x) e = log(add(sqr(x), 1.0)) f = sign(x) g = floor(x) h = ceil(x) i = round(x)
''', lambda x: (x, -x, 1 / (abs(x) + .5), np.exp(x), np.log(x * x + 1), np.sign(x), np.floor(x), np.ceil(x), rnd(x)))
M('round-ties', '4.2.1', '''
in x[8] -> y, z
y = round(x)
z = round(mul(x, -1.0))
''', lambda x: (rnd(x), rnd(-x)), values=dict(x=[-2.5, -1.5, -.5, -.0, .5, 1.5, 2.5, 3.5]))
M('simplified', '4.2.4', '''
in x[2,4] w[2,4] -> a, b, c, d, e, f, g
p = add(abs(x), 0.25)
a = sqr(x) b = sqrt(p) c = rsqr(p) d = rsqrt(p) e = log2(p) f = min(x, w) g = max(x, w)
''', lambda x, w: (lambda p: (x * x, p ** .5, p ** -2, p ** -.5, np.log2(p), np.minimum(x, w), np.maximum(x, w)))(abs(x) + .25))
M('left-broadcast', '4.2.2', '''
in x[2,3] a[2] b[1,3] c[1,1,4] -> y
y = add(mul(sub(x, a), b), c)
''', lambda x, a, b, c: ((x - a[:, None]) * b)[:, :, None] + c)
M('both-ways', '4.2.2', '''
in a[2,1,3] b[1,4,1,2] -> y, z
y = sub(a, b)
z = select(lt(a, b), mul(y, 0.5), 7.0)
''', lambda a, b: (a[..., None] - b, np.where(a[..., None] < b, (a[..., None] - b) / 2, 7)))
M('comparisons-and-logic', '4.2.2 4.2.3', '''
in x[2,6] w[2] -> a, b, c, d, e, f, g
l = lt(x, w)
k = ge(x, 0.5)
a = select(l, 1.0, x) b = select(gt(x, w), x, 0.0) c = select(le(x, w), x, 2.0) d = select(k, x, neg(x)) e = select(eq(x, w), x, 3.0)
f = select(ne(x, w), x, 4.0) g = select(or(and(l, k), not(or(l, false))), x, 5.0)
''', lambda x, w: (lambda w: (np.where(x < w, 1, x), np.where(x > w, x, 0), np.where(x <= w, x, 2), np.where(x >= .5, x, -x), np.where(x == w, x, 3), np.where(x != w, x, 4), np.where(((x < w) & (x >= .5)) | ~(x < w), x, 5)))(w[:, None] + 0 * x))
M('select-singular', '4.2.3', '''
in x[2,3,2] c[2,1,2] s[1,1] -> y, z
b = gt(c, 0.0)
y = select(b, x, s)
z = select(lt(s, 10.0), x, mul(x, 100.0))
''', lambda x, c, s: (np.where(c > 0, x, s[0, 0]), x))
M('clamp-crossed', '4.2.4', '''
in x[9] -> y, z
y = clamp(x, 1.0, -1.0)
z = clamp(x, -0.5, 0.75)
''', lambda x: (0 * x + 1, clamp(x, -.5, .75)))
M('literal-operands', '3.3.2 4.1', '''
in x[2,3] -> a, b, c, d, e, f, g
a = concat([x, concat([7.0, 8.0], axis = 0)], axis = 1)
b = linear(0.5, 2.0, 1.0)
c = softmax(0.5)
d = sum_reduce(2.5, axes = [0])
e = transpose(1.5, perm = [1,0])
f = reshape(2.5, shape = [1,1,1])
g = matmul(constant(shape = [2], value = [1.0,3.0]), 4.0)
''', lambda x: (np.concatenate([x, [[7], [8]]], 1), np.ones((1, 1)) * 2, np.ones((1,)), np.full((1,), 2.5), np.full((1,), 1.5), np.full((1, 1, 1), 2.5), np.array([[4.], [12.]])))
M('literal-windows', '3.3.2 4.3', '''
in x[2,1,5] -> a, b, c, d
a = conv(x, 2.0)
b = box(3.0, size = [1,1,3], border = 'replicate')
c = deconv(x, 0.5, 1.5, stride = [2])
d = max_pool(-1.0, size = [1,1,2])
''', lambda x: (2 * x, np.full((1,), 9.), deconv(x, np.full((1, 1, 1), .5), 1.5, stride=[2]), np.zeros((1,))))

# ---- 4.3 sliding windows
C = 'x[2,3,6,5] w[4,3,3,2] b[1,4]'
def windows():
    for border in ('constant', 'replicate', 'reflect', 'reflect-even'):
        M(f'conv-{border}', '4.3.1', f'''
in {C} -> y, z
y = conv(x, w, b, border = '{border}', stride = [2,1], dilation = [1,2])
z = conv(x, w, border = '{border}', padding = [(2,1),(0,2)], stride = [3])
''', lambda x, w, b, border=border: (conv(x, w, b, border, (), (2, 1), (1, 2)), conv(x, w, 0, border, ((2, 1), (0, 2)), (3,))))
        M(f'deconv-{border}', '4.3.1', f'''
in x[1,2,3,3] w[2,3,2,3] b[1,3] -> y, z
y = deconv(x, w, b, border = '{border}', stride = [2,1])
z = deconv(x, w, 0.5, border = '{border}', padding = [(1,0),(2,1)], stride = [2,3], dilation = [3,1])
''', lambda x, w, b, border=border: (deconv(x, w, b, border, (), (2, 1)), deconv(x, w, .5, border, ((1, 0), (2, 1)), (2, 3), (3, 1))))
        M(f'box-{border}', '4.3.2', f'''
in x[2,3,4] -> y, z, m
y = box(x, size = [1,2,3], border = '{border}', stride = [1,2])
z = avg_pool(x, size = [2,1,2], border = '{border}', padding = [(1,0),(0,0),(1,1)], dilation = [1,1,2])
m = max_pool(x, size = [1,3,2], border = '{border}', stride = [2,2,1])
''', lambda x, border=border: (box(x, [1, 2, 3], border, (), (1, 2)), box(x, [2, 1, 2], border, ((1, 0), (0, 0), (1, 1)), (), (1, 1, 2), True), max_pool(x, [1, 3, 2], border=border, stride=(2, 2, 1))))
windows()
M('conv-one-bias', '4.3.1', '''
in x[1,2,4] w[3,2,2] b[1] -> y
y = conv(x, w, b, padding = [(1,0)])
''', lambda x, w, b: conv(x, w, b, padding=[(1, 0)]))
M('conv-groups', '4.3.1', '''
in x[2,4,5] w[6,2,3] p[8,1,2] -> y, z
y = conv(x, w, groups = 2, stride = [2], padding = [(2,2)])
z = planewise_conv(x, p, 0.25, border = 'replicate', dilation = [3])
''', lambda x, w, p: (conv(x, w, stride=(2,), padding=((2, 2),), groups=2), conv(x, p, .25, 'replicate', dilation=(3,), groups=4)))
M('deconv-groups', '4.3.1', '''
in x[1,4,3] w[4,3,2] p[4,1,3] -> y, z
y = deconv(x, w, groups = 2, stride = [2], padding = [(0,0)])
z = planewise_deconv(x, p, -1.0, stride = [3])
''', lambda x, w, p: (deconv(x, w, groups=2, stride=(2,), padding=((0, 0),)), deconv(x, p, -1.0, stride=(3,), groups=4)))
M('separable', '4.8.2', '''
in x[1,2,5,4] w[4,1,3,3] p[2,4] q[6,2] r[6,1,2,2] -> y, z
y = separable_conv(x, w, p, 1.0, stride = [2,1], border = 'reflect-even')
z = separable_deconv(y, r, transpose(q, perm = [1,0]), stride = [1,2])
''', lambda x, w, p, q, r: (lambda y: (y, deconv(deconv(y, q.T), r, stride=(1, 2), groups=6)))(conv(conv(x, w, 0, 'reflect-even', stride=(2, 1), groups=2), p, 1.0)))
M('filter-of-higher-rank', '4.3', '''
in x[1,4,5] w[2,4,3,2] -> y, z
y = conv(x, w)
z = conv(x, w, padding = [(0,0),(1,0)], stride = [1,2], dilation = [2,1], border = 'replicate')
''', lambda x, w: (conv(x, w), conv(x, w, 0, 'replicate', ((0, 0), (1, 0)), (1, 2), (2, 1))))
M('no-space', '4.3.1', '''
in x[3,2] w[4,2] b[1,4] -> y, z
y = conv(x, w, b)
z = deconv(y, w)
''', lambda x, w, b: (conv(x, w, b), deconv(conv(x, w, b), w)))
M('stride-beyond-window', '4.3', '''
in x[1,1,7,5] -> y, z, m
y = box(x, size = [1], stride = [1,1,4,3])
z = conv(x, constant(shape = [1,1,1,1], value = [2.0]), stride = [3,3])
m = max_pool(x, size = [1,1,2,1], stride = [1,1,5,2])
''', lambda x: (box(x, [1], stride=(1, 1, 4, 3)), conv(x, np.full((1, 1, 1, 1), 2.), stride=(3, 3)), max_pool(x, [1, 1, 2, 1], stride=(1, 1, 5, 2))))
M('stride-beyond-filter-back', '4.3', '''
in x[1,1,3] w[1,2,2] -> y, z
y = deconv(x, w, stride = [5])
z = debox(x, size = [1,1,2], stride = [1,1,3])
''', lambda x, w: (deconv(x, w, stride=(5,)), debox(x, [1, 1, 2], stride=(1, 1, 3))))
M('missing-items', '4.3', '''
in x[2,2,6,5] -> a, b, c
a = box(x, size = [1,2])
b = box(x, size = [1,1,2,2], stride = [1,1,2], padding = [(0,0),(0,0),(0,1)])
c = max_pool(x, size = [2], dilation = [1,1,1])
''', lambda x: (box(x, [1, 2]), box(x, [1, 1, 2, 2], stride=(1, 1, 2), padding=((0, 0), (0, 0), (0, 1))), max_pool(x, [2])))
M('rank-six', '4.3', '''
in x[1,2,3,3,2,2] w[4,1,2,2,1,2] -> y, z
y = conv(x, w, groups = 2, padding = [(0,0),(0,1)])
z = deconv(y, w, 1.0, groups = 2, stride = [1,1,2,1], padding = [(0,0)] )
''', lambda x, w: (lambda y: (y, deconv(y, w, 1.0, groups=2, stride=(1, 1, 2, 1), padding=((0, 0),))))(conv(x, w, groups=2, padding=((0, 0), (0, 1)))), forms=NO_IR)
M('five-space', '4.3.1', '''
in x[1,1,2,3,2,2,3] w[2,1,2,1,2,1,2] -> y
y = conv(x, w, 0.5, border = 'reflect-even', dilation = [1,1,1,1,2])
''', lambda x, w: conv(x, w, .5, 'reflect-even', dilation=(1, 1, 1, 1, 2)), forms=NO_IR)
M('average-of-the-inside', '4.3 4.3.2', '''
in x[1,2,4,3] -> y, z, m
y = avg_pool(x, size = [1,1,3,2], border = 'ignore')
z = box(x, size = [1,1,2,2], border = 'ignore', padding = [(0,0),(0,0),(1,1),(1,0)], stride = [1,1,2,1])
m = max_pool(x, size = [1,1,3,3], border = 'ignore', stride = [1,1,2,2])
''', lambda x: (box(x, [1, 1, 3, 2], 'ignore', normalize=True), box(x, [1, 1, 2, 2], 'ignore', ((0, 0), (0, 0), (1, 1), (1, 0)), (1, 1, 2, 1)), max_pool(x, [1, 1, 3, 3], border='ignore', stride=(1, 1, 2, 2))))
M('zeros-take-part', '4.3 4.3.3', '''
in x[1,1,4] -> y, i
n = sub(neg(abs(x)), 1.0)
y = max_pool(n, size = [1,1,3])
i = argmax_pool(n, size = [1,1,3])
''', lambda x: (max_pool(-abs(x) - 1, [1, 1, 3]), argmax_pool(-abs(x) - 1, [1, 1, 3])), forms=NOT_RATIFIED)
M('first-of-ties', '4.3.3', '''
in x[1,1,4,4] -> i, y
i = argmax_pool(x, size = [1,1,2,3], stride = [1,1,2,1], padding = [(0,0),(0,0),(0,0),(1,1)], border = 'replicate')
y = sample(x, i, size = [1,1,2,3], stride = [1,1,2,1], padding = [(0,0),(0,0),(0,0),(1,1)], border = 'replicate')
''', lambda x: (lambda k: (argmax_pool(x, [1, 1, 2, 3], **k), max_pool(x, [1, 1, 2, 3], **k)))(dict(border='replicate', padding=((0, 0), (0, 0), (0, 0), (1, 1)), stride=(1, 1, 2, 1))), coarse=True, forms=NOT_RATIFIED)
M('sample-another', '4.3.3', '''
in x[1,2,5] w[1,2,5] -> y, z
i = argmax_pool(x, size = [1,1,3], dilation = [1,1,2], border = 'ignore')
y = sample(w, i, size = [1,1,3], dilation = [1,1,2], border = 'reflect-even')
z = desample(w, i, size = [1,1,3], dilation = [1,1,2])
''', lambda x, w: (lambda i: (sample(w, i, [1, 1, 3], 'reflect-even', dilation=(1, 1, 2)), desample(w, i, [1, 1, 3], dilation=(1, 1, 2))))(argmax_pool(x, [1, 1, 3], 'ignore', dilation=(1, 1, 2))))
M('pool-and-back', '4.3.3', '''
in x[2,2,4,6] -> p, i, y
(p, i) = max_pool_with_index(x, size = [1,2,2,3], stride = [1,2,2,2], padding = [(0,0),(0,0),(0,0),(1,0)])
y = desample(p, i, size = [1,2,2,3], stride = [1,2,2,2], padding = [(0,0),(0,0),(0,0),(1,0)])
''', lambda x: (lambda k: (lambda i: (max_pool(x, [1, 2, 2, 3], **k), i, desample(max_pool(x, [1, 2, 2, 3], **k), i, [1, 2, 2, 3], **k)))(argmax_pool(x, [1, 2, 2, 3], **k)))(dict(stride=(1, 2, 2, 2), padding=((0, 0), (0, 0), (0, 0), (1, 0)))), forms=NOT_RATIFIED)
M('coordinates-travel', '4.5 4.3.3', '''
in x[1,2,4] w[1,2,4] -> y, k, s
i = argmax_pool(x, size = [1,1,3])
j = argmax_pool(w, size = [1,1,3])
y = sample(x, select(gt(x, w), i, j), size = [1,1,3])
[a, b] = split(i, axis = 1, ratios = [1,1])
k = concat([transpose(a, perm = [2,0,1]), reshape(b, shape = [4,1,1])], axis = 2)
s = sample(x, concat([b, a], axis = 1), size = [1,1,3])
''', lambda x, w: (lambda i, j: (sample(x, np.where(x > w, i, j), [1, 1, 3]), np.stack([i[0, 0], i[0, 1]], -1)[:, None], sample(x, i[:, ::-1], [1, 1, 3])))(argmax_pool(x, [1, 1, 3]), argmax_pool(w, [1, 1, 3])), forms=NOT_RATIFIED)
M('debox', '4.3.2', '''
in x[1,2,3,2] -> a, b, c
a = debox(x, size = [1,1,2,3], stride = [1,1,2,1])
b = debox(x, size = [1,2,3], stride = [1,1,2], padding = [(0,0),(1,0),(1,2)], normalize = true)
c = debox(x, size = [1,1,3,1], border = 'replicate', dilation = [1,1,2,1], padding = [(0,0),(0,0),(1,2),(0,0)])
''', lambda x: (debox(x, [1, 1, 2, 3], stride=(1, 1, 2, 1)), debox(x, [1, 2, 3], stride=(1, 1, 2), padding=((0, 0), (1, 0), (1, 2)), normalize=True), debox(x, [1, 1, 3, 1], 'replicate', dilation=(1, 1, 2, 1), padding=((0, 0), (0, 0), (1, 2), (0, 0)))))
M('resample', '4.3.4', '''
in x[1,2,4,6] -> a, b, c, d
a = nearest_downsample(x, factor = [2,3])
b = area_downsample(x, factor = [4,1])
c = nearest_upsample(x, factor = [1,3])
d = nearest_upsample(x, factor = [2])
''', lambda x: (x[:, :, ::2, ::3], x.mean(2, keepdims=True), x.repeat(3, 3), x.repeat(2, 2)))
for method in ('symmetric', 'asymmetric', 'aligned'):
    borders = ('replicate',) if method == 'aligned' else ('replicate', 'constant', 'reflect-even')
    M(f'upsample-{method}', '4.3.4', 'in x[1,2,3,4] v[2,1,3] -> ' + ', '.join(f'{n}{k}' for k in range(len(borders)) for n in 'ab') + '\n' + '\n'.join(
        f"a{k} = multilinear_upsample(x, factor = [2,3], method = '{method}', border = '{b}') b{k} = multilinear_upsample(v, factor = [4], method = '{method}', border = '{b}')"
        for k, b in enumerate(borders)), lambda x, v, method=method, borders=borders: tuple(upsample(e, f, method, b) for b in borders for e, f in ((x, (2, 3)), (v, (4,)))))
M('upsample-reflect', '4.3.4', '''
in x[1,1,3] -> y
y = multilinear_upsample(x, factor = [3], border = 'reflect')
''', lambda x: upsample(x, (3,), border='reflect'))

# ---- 4.4 - 4.7
M('reductions', '4.4', '''
in x[2,3,4] -> a, b, c, d, e, f
a = sum_reduce(x, axes = [2,0]) b = sum_reduce(x, axes = [1], normalize = true) c = min_reduce(x, axes = [0,1,2]) d = max_reduce(x, axes = [4,1])
e = mean_reduce(x, axes = [0,2,5]) f = sum_reduce(x, axes = [], normalize = true)
''', lambda x: (x.sum((0, 2), keepdims=True), x.mean(1, keepdims=True), x.min(keepdims=True), x.max(1, keepdims=True), x.mean((0, 2), keepdims=True), x))
M('moments', '4.8.6', '''
in x[2,3,4] -> m, v, n
m, v = moments(x, axes = [0,2])
n = div(sub(x, m), sqrt(add(v, 0.125)))
''', lambda x: (lambda m, v: (m, v, (x - m) / np.sqrt(v + .125)))(x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)))
M('reshape-inherits', '4.5.1', '''
in x[2,3,4] -> a, b, c, d
a = reshape(x, shape = [0,-1])
b = reshape(x, shape = [6,1,0,0])
c = reshape(a, shape = [2,2,-1,3,0])
d = reshape(x, shape = [24])
''', lambda x: (x.reshape(2, 12), x.reshape(6, 1, 4, 1), x.reshape(2, 2, 2, 3, 1), x.ravel()))
M('transposes', '4.5.2', '''
in x[2,3,4] -> a, b, c
a = transpose(x, perm = [2,0,1])
b = transpose(x, perm = [1,0])
c = transpose(x, perm = [3,1,4,0,2])
''', lambda x: (x.transpose(2, 0, 1), x.transpose(1, 0, 2), x[..., None, None].transpose(3, 1, 4, 0, 2)))
M('splits', '4.5.3', '''
in x[2,12] -> y, z, w
[a, b, c] = split(x, axis = 1, ratios = [1,3,2])
[d] = split(b, axis = 4, ratios = [1])
[e, f] = split(a, axis = 0, ratios = [1,1])
y = concat([c, a, b], axis = 1)
z = concat([e, f, e], axis = 3)
w = idn(d)
''', lambda x: (x[:, [8, 9, 10, 11, 0, 1] + list(range(2, 8))], np.stack([x[:1, :2], x[1:, :2], x[:1, :2]], -1)[:, :, None], x[:, 2:8]))
M('products', '4.6', '''
in x[2,3] w[3,2] v[3] -> a, b, c, d, e
a = matmul(x, w) b = matmul(x, x, trB = true) c = matmul(x, x, trA = true) d = matmul(x, w, trA = true, trB = true) e = matmul(x, v)
''', lambda x, w, v: (x @ w, x @ x.T, x.T @ x, x.T @ w.T, (x @ v)[:, None]))
M('linear-with-lower-rank', '4.8.2 4.6', '''
in x[3] w[4] b[1,4] -> y, z
y = linear(x, w, b)
z = linear(x, w)
''', lambda x, w, b: (np.outer(x, w) + b, np.outer(x, w)))
M('state', '4.7', '''
fragment step(v: tensor, x: tensor) -> (y: tensor, old: tensor) {
  y = update(v, v * 0.5 + x)
  old = v * 2.0
}
in x[2,3] -> y, o, s
v = variable(shape = [2,3], label = 'v')
w = variable(shape = [2,3], label = 'w')
y, o = step(v, x)
t = update(w, v)
s = add(add(t, w), y)
''', lambda x, v, w: (v / 2 + x, 2 * v, v + w + v / 2 + x), weights={'v': (2, 3), 'w': (2, 3)})
M('states-of-a-loop', '4.7 3.3.3', '''
fragment cell(x: tensor, scope: string) -> (y: tensor) {
  s = variable(shape = shape_of(x), label = scope)
  y = update(s, s + x)
}
fragment cells(x: tensor, names: string[]) -> (y: tensor[]) { y = [cell(x * scalar(i + 1), scope = names[i]) for i in range_of(names) if names[i] != ''] }
in x[2] -> a, b
[a, b] = cells(x, names = ['p', '', 'q/r'])
''', lambda x, p, **v: (p + x, v['q/r'] + 3 * x), weights={'p': (2,), 'q/r': (2,)}, forms=('upgrade', 'compile', 'openvino'))
M('update-by-literal', '4.7 3.3.2', '''
in x[1] -> y, z
v = variable(shape = [1], label = 'v')
y = update(v, 2.5)
z = add(v, x)
''', lambda x, v: (np.full((1,), 2.5), v + x), weights={'v': (1,)}, forms=ALL[:-1])

# ---- 4.8
M('activations', '4.8.1', '''
in x[3,4] -> a, b, c, d, e, f
a = sigmoid(x) b = relu(x) c = leaky_relu(x, alpha = -0.5) d = elu(x) e = tanh(x) f = softplus(x)
''', lambda x: (1 / (1 + np.exp(-x)), np.maximum(x, 0), np.where(x < 0, -.5 * x, x), np.where(x < 0, np.exp(x) - 1, x), np.tanh(x), np.log(np.exp(x) + 1)))
M('softmaxes', '4.8.1', '''
in x[2,3,4] -> a, b, c, d
a = softmax(x) b = softmax(x, axes = [0,2]) c = softmax(x, axes = [3]) d = softmax(x, axes = [2,0,1])
''', lambda x: (softmax(x), softmax(x, (0, 2)), softmax(x, (3,)), softmax(x, (0, 1, 2))))
M('pools', '4.8.3', '''
in x[1,2,5,4] -> a, b
a = rms_pool(x, size = [1,2,2,2], stride = [1,1,2,2], border = 'reflect')
b = avg_pool(x, size = [1,1,3,3], dilation = [1,1,2,1])
''', lambda x: (np.sqrt(box(x * x, [1, 2, 2, 2], 'reflect', stride=(1, 1, 2, 2), normalize=True)), box(x, [1, 1, 3, 3], dilation=(1, 1, 2, 1), normalize=True)))
M('local-response', '4.8.4', '''
in x[1,5,3,3] -> a, b, c
a = local_response_normalization(x, size = [1,3], alpha = 0.5, beta = 0.75, bias = 2.0)
b = local_response_normalization(x, size = [1,1,2,3])
c = local_response_normalization(x, size = [1], alpha = 2.0)
''', lambda x: (lrn(x, [1, 3], .5, .75, 2.0), lrn(x, [1, 1, 2, 3]), lrn(x, [1], 2.0)))
M('local-moments', '4.8.4', '''
in x[2,3,5] -> a, b, c
a = local_mean_normalization(x, size = [1,2,3])
b = local_variance_normalization(x, size = [1,1,3], bias = 0.5)
c = local_contrast_normalization(x, size = [2,1,3], bias = 1.0)
''', lambda x: (x - box(x, [1, 2, 3], normalize=True), x / np.sqrt(box(x * x, [1, 1, 3], normalize=True) + .5), (lambda c: c / np.sqrt(box(c * c, [2, 1, 3], normalize=True) + 1))(x - box(x, [2, 1, 3], normalize=True))))
M('norms', '4.8.4', '''
in x[2,3,4] -> a, b, c
a = l1_normalization(x, axes = [1,2], bias = 0.25)
b = l2_normalization(x, axes = [0], bias = 0.5)
c = l2_normalization(add(x, 9.0), axes = [1])
''', lambda x: (x / (abs(x).sum((1, 2), keepdims=True) + .25), x / np.sqrt((x * x).sum(0, keepdims=True) + .5), (x + 9) / np.sqrt(((x + 9) ** 2).sum(1, keepdims=True))))
M('batch-norm', '4.8.4', '''
in x[2,3,2] m[1,3] o[1] -> a, b
v = add(abs(m), 0.5)
a = batch_normalization(x, m, v, o, scale = 2.0, epsilon = 0.25)
b = batch_normalization(x, variance = v, mean = x, offset = m, scale = m, epsilon = 0.0)
''', lambda x, m, o: (lambda m, v: (o + 2 * (x - m) / np.sqrt(v + .25), m + 0 * x))(m[:, :, None], abs(m[:, :, None]) + .5))
M('quantized', '4.8.5', '''
in x[2,3,4] h[1,3] -> a, b, c
g = add(abs(h), 0.5)
a = linear_quantize(x, neg(g), g, bits = 2)
b = linear_quantize(x, min = -1.0, max = 1.5, bits = 4)
c = logarithmic_quantize(x, max = g, bits = 3)
''', lambda x, h: (lambda g: (linear_quantize(x, -g, g, 2), linear_quantize(x, -1., 1.5, 4), log_quantize_p(x, g, 3)))(abs(h) + .5), values=dict(h=[[.5, 0, 1.5]]))
M('copies', '4.8.6', '''
in x[2,3] -> a, b, c, s
[a, b, c] = copy_n(x, times = 3)
s = add_n([a, 1.0, b, x, mul(c, 2.0)])
''', lambda x: (x, x, x, 5 * x + 1))
M('high-ranks', '4.2 4.4 4.5', '''
in x[1,2,1,3,1,2,2] w[1,2] -> y, s
a = transpose(mul(x, w), perm = [6,5,4,3,2,1,0])
b = concat([a, neg(a)], axis = 7)
c = sum_reduce(box(b, size = [2,1,1,1,1,1,1,2], border = 'replicate'), axes = [0,3])
y = reshape(c, shape = [2,1,1,2,2,-1])
s = softmax(x, axes = [3,6])
''', lambda x, w: (lambda a: (box(np.stack([a, -a], -1), [2, 1, 1, 1, 1, 1, 1, 2], 'replicate').sum((0, 3), keepdims=True).reshape(2, 1, 1, 2, 2, 1), softmax(x, (3, 6))))((x * w.reshape(1, 2, 1, 1, 1, 1, 1)).transpose(6, 5, 4, 3, 2, 1, 0)))
