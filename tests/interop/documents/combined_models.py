"""Models in which several rules meet, and ratified ones, with the formulas of their results; see chapter_models.py."""

from __future__ import annotations

from chapter_formulas import *  # noqa: F403
from chapter_models import ALL, MODELS, NO_IR, NOT_RATIFIED, M

RFRAG = 'extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n'
def R(*a, **k): M(*a, dialect='R', **k)
R('in-and-iterators', '3.3.3', RFRAG + '''fragment f( x: tensor<scalar>, n: integer[], k: scalar[] ) -> ( y: tensor<scalar> ) {
  t = [for i in n, s in k if (i in [1,3]) && !([i,2] in [[3,2]]) yield x * s];
  y = t[0] ^ 2.0 + scalar(length_of(t)) - -x * scalar(integer(-0.5) + 2 ^ 3);
}
in x[2,2] -> y
y = f(x, n = [3,1,2], k = [5.0,2.0,7.0]);
''', lambda x: (2 * x) ** 2 + 1 + 7 * x)
R('generic', '3.3.1', RFRAG + '''fragment twice<? = scalar>( x: tensor<?>, v: ?[] ) -> ( y: tensor<?> ) { y = concat<?>([x, constant<?>(shape = [1], value = v)], axis = 0); }
in x[2] i:integer[2] b:logical[2] -> p, q, r
p = twice(x, v = [0.5]);
q = twice<integer>(i, v = [-7]);
c = twice<logical>(b, v = [true]);
r = select(c, 1.0, p);
''', lambda x, i, b: (np.append(x, .5), np.append(i, -7), np.where(np.append(b, True), 1, np.append(x, .5))))
R('trigonometry', '4.2.1', '''
extension KHR_enable_operator_expressions;
in x[3,3] -> a, b, c, d, e, f, g, h, i, j, k, l
p = div(x, 8.0);
a = sin(x); b = cos(x); c = tan(p); d = asin(p); e = acos(p); f = atan(x); g = sinh(p); h = cosh(p); i = tanh(x); j = asinh(x); k = acosh(add(abs(x), 1.0)); l = atanh(p);
''', lambda x: (np.sin(x), np.cos(x), np.tan(x / 8), np.arcsin(x / 8), np.arccos(x / 8), np.arctan(x), np.sinh(x / 8), np.cosh(x / 8), np.tanh(x), np.arcsinh(x), np.arccosh(abs(x) + 1), np.arctanh(x / 8)))
R('arg-and-logic-reduce', '4.4', '''
in x[3,4] b:logical[3,4] -> p, q, r, s
p = argmax_reduce(x, axes = [1]);
q = argmin_reduce(x, axes = [0]);
r = all_reduce(b, axes = [1]);
s = any_reduce(b, axes = [0]);
''', lambda x, b: (x.argmax(1)[:, None], x.argmin(0)[None], b.all(1, keepdims=True), b.any(0, keepdims=True)), coarse=True)
R('slices', '4.5.4', '''
in x[5,6] -> a, b, c, d, e
a = slice(x, axes = [0], begin = [-3], end = [-1]);
b = slice(x, axes = [1,0], begin = [4,1], end = [1,100], stride = [-1,2]);
c = slice(x, axes = [1], begin = [-1], end = [-100], stride = [-2]);
d = slice(x, axes = [0,1], begin = [2,3], end = [0,0]);
e = slice(x, axes = [1], begin = [1], end = [4], stride = [1]);
''', lambda x: (x[-3:-1], x[1::2, 4:1:-1], x[:, ::-2], x[2:, 3:], x[:, 1:4]))
R('pads', '4.5.5', '''
in x[3,4] -> a, b, c, d
a = pad(x, padding = [(1,0),(-1,2)], value = -0.5);
b = pad(x, padding = [(2,1),(0,3)], border = 'reflect');
c = pad(x, padding = [(0,3),(4,-2)], border = 'reflect-even');
d = pad(x, padding = [(-2,2),(1,1)], border = 'replicate');
''', lambda x: tuple((lambda o: np.array([[at(x, (i, j), m, 0) if m != 'c' else (x[i, j] if 0 <= i < 3 and 0 <= j < 4 else -.5) for j in range(-o[1][0], 4 + o[1][1])] for i in range(-o[0][0], 3 + o[0][1])]))(o)
  for m, o in (('c', ((1, 0), (-1, 2))), ('reflect', ((2, 1), (0, 3))), ('reflect-even', ((0, 3), (4, -2))), ('replicate', ((-2, 2), (1, 1))))))
R('tile-gather-cast', '4.5.6 4.5.7 4.5.8', '''
extension KHR_enable_operator_expressions;
in x[2,3] i:integer[2,2] -> a, b, c, d, e
a = tile(x, repeats = [2,3]);
b = gather(x, i, axis = 1);
c = cast<integer>(mul(x, 2.0));
d = cast<scalar>(cast<logical>(x));
e = gather(tile(i, repeats = [1,2]), constant<integer>(shape = [], value = [1]));
''', lambda x, i: (np.tile(x, (2, 3)), x[:, i], np.floor(2 * x), (x != 0) * 1., np.tile(i, (1, 2))[1]), indices=2)
R('stacks', '4.5', '''
in x[2,3,4] -> a, b, c, d, e
a = reshape(x, shape = [2,-1], axis_start = 2, axis_count = 1);
b = unsqueeze(x, axes = [0,2,5]);
c = squeeze(b, axes = [5,0]);
[p, q, r] = unstack(x, axis = 1);
d = stack([r, p, q], axis = 2);
e = reshape(x, shape = [12], axis_start = 1);
''', lambda x: (x.reshape(2, 3, 2, 2), x[None, :, None, :, :, None], x[:, None], np.stack([x[:, 2], x[:, 0], x[:, 1]], 2), x.reshape(2, 12)), strict=True)
R('batched-products', '4.7', '''
in x[2,1,3,4] w[1,2,3,4] -> y, z
y = matmul(x, w, transposeA = true);
z = matmul(x, w, transposeB = true);
''', lambda x, w: (x.swapaxes(2, 3) @ w, x @ w.swapaxes(2, 3)))
R('windows-with-clipping', '4.3', '''
in x[1,2,7,5] w[2,1,2,1] v[2,2,2,2] -> a, b, c, d, e
a = box(x, size = [1,1,1,1], stride = [1,1,4,3]);
b = conv(x, w, groups = 0, padding = [(-1,2),(1,-2)]);
c = deconv(x, v, stride = [2,3], output_shape = [1,2,13,14]);
d = debox(x, size = [1,1,2,1], stride = [1,1,3,1], output_shape = [1,2,20,5]);
e = deconv(x, w, groups = 0, stride = [3,2]);
''', lambda x, w, v: (box(x, [1] * 4, stride=(1, 1, 4, 3), clip=True), conv(x, w, padding=((-1, 2), (1, -2)), groups=0), deconv(x, v, stride=(2, 3), clip=True, to=(1, 2, 13, 14)), debox(x, [1, 1, 2, 1], stride=(1, 1, 3, 1), clip=True, to=(1, 2, 20, 5)), deconv(x, w, groups=0, stride=(3, 2), clip=True)))
R('new-activations', '4.9.1', '''
in x[2,3,2] s[1,3] -> a, b, c, d, e, f
a = prelu(x, s); b = elu(x, alpha = 0.5); c = selu(x); d = gelu(x); e = silu(x); f = selu(x, alpha = 1.0, lambda = 2.0);
''', lambda x, s: (np.where(x < 0, s[:, :, None] * x, x), np.where(x < 0, .5 * (np.exp(x) - 1), x), 1.05070102 * np.where(x < 0, 1.67326319 * (np.exp(x) - 1), x), x / (1 + np.exp(-1.702 * x)), x / (1 + np.exp(-x)), 2 * np.where(x < 0, np.exp(x) - 1, x)))
R('new-norms', '4.9.4', '''
in x[2,3,4] -> a, b, c, d
a = l1_normalization(x, axes = [1], bias = -9.0, epsilon = 0.5);
b = l2_normalization(x, axes = [2], epsilon = 2.0);
c = local_variance_normalization(x, size = [1,1,3], bias = 0.25, epsilon = 1.5);
d = local_contrast_normalization(x, size = [1,3,1], bias = 0.5);
''', lambda x: (x / np.maximum(abs(x).sum(1, keepdims=True) - 9, .5), x / np.maximum(np.sqrt((x * x).sum(2, keepdims=True)), 2), x / np.maximum(np.sqrt(box(x * x, [1, 1, 3], normalize=True)) + .25, 1.5), (lambda c: c / (np.sqrt(box(c * c, [1, 3, 1], normalize=True)) + .5))(x - box(x, [1, 3, 1], normalize=True))))
R('new-quantize', '4.9.5', '''
in x[2,3,4] h[1,3] z:integer[1,3] -> a, b, c, d
a = min_max_linear_quantize(x, -1.0, 1.5, bits = 4, signed = true, symmetric = false);
b = min_max_linear_quantize(x, -1.75, 1.75, bits = 3, signed = true, symmetric = true);
c = zero_point_linear_quantize(x, z, h, bits = 3, signed = true, symmetric = true);
d = zero_point_linear_quantize(x, 3, 0.25, bits = 4, signed = false, symmetric = false);
''', lambda x, h, z: ((lambda c: rnd((c + 1) * 6) / 6 - 1)(clamp(x, -1, 1.5)), (lambda c: rnd((c + 1.75) / 3.5 * 6) / 6 * 3.5 - 1.75)(clamp(x, -1.75, 1.75)),
  (lambda h, z: (clamp(rnd(x / h) + z, -3, 3) - z) * h)(h[:, :, None], z[:, :, None]), (clamp(rnd(x / .25) + 3, 0, 15) - 3) * .25), values=dict(h=[[.5, .25, 1.0]]), indices=3, forms=ALL[:-1])
R('select-broadcasts', '4.2.3', '''
in x[2,3] a[2,1] b:logical[1,3] c:integer[2,1] -> y, z, k
y = select(b, a, x);
z = clamp(x, a, 1.0);
k = select(b, c, 9);
''', lambda x, a, b, c: (np.where(b, a, x), clamp(x, a, 1.0), np.where(b, c, 9)))
R('log-quantize', '4.9.5', '''
in x[2,5] -> y
y = logarithmic_quantize(x, 1.5, bits = 2);
''', lambda x: np.sign(x) * 2.0 ** rnd(clamp(np.log2(abs(x) + (x == 0)), 1. - 3, 1.)))
# ---- own fragments with names that the other dialect's library has
M('own-names-of-the-other-library', '3.3.1', '''
fragment copy(x: tensor) -> (y: tensor) { y = x * 2.0 }
fragment pad(x: tensor, padding: extent) -> (y: tensor) { y = concat([x] * padding, axis = 0) }
fragment gelu(x: tensor, slope: scalar = 2.0) -> (y: tensor) { y = idn(x) + slope }
fragment sin(x: tensor) -> (y: tensor) { y = -copy(x) }
fragment cast(x: tensor, kind: string) -> (y: tensor) { y = sin(x) if kind == 'sin' else gelu(x) }
fragment squeeze(x: tensor) -> (y: tensor, z: tensor) { y = cast(x, kind = 'sin') z = cast(x, kind = '') }
in x[2,3] -> p, q, r, s
p, q = squeeze(x)
r = pad(idn(x), padding = 3)
s = copy(sin(gelu(x, slope = -1.0)))
''', lambda x: (-2 * x, x + 2, np.concatenate([x] * 3), -4 * (x - 1)))
M('names-that-expansion-makes', '3.3.1', '''
fragment f(x: tensor) -> (y: tensor) { t = x * 2.0  y = t + 1.0 }
in x[2] y_t[2] y_mul[2] y_2[2] -> y, y_f, y_t_2, t
y = f(f(x))
y_f = f(y_t)
y_t_2 = add(mul(y_mul, 2.0), y_2)
t = sub(y, y_f)
''', lambda x, a, b, c: (4 * x + 3, 2 * a + 1, 2 * b + c, 4 * x + 3 - 2 * a - 1))
M('words-of-the-other-dialect', '3.1', '''
fragment extension(integer: tensor, yield: scalar, version: extent) -> (lambda: tensor) { lambda = integer * yield + scalar(version) }
in integer[2] yield[2] -> version, integer_2, extension
version = extension(integer, yield = 2.0, version = 3)
integer_2 = sub(yield, integer)
extension = neg(integer_2)
''', lambda a, b: (2 * a + 3, b - a, a - b), renamed=True)
M('deep', '3.3.3', '''
fragment down(x: tensor, n: extent) -> (y: tensor) { y = down(x + 0.125, n = n - 1) * 1.0 if n > 0 else x }
fragment chain(x: tensor[], n: extent) -> (y: tensor[]) { y = chain([x[0] - x[1]] + x[:1], n = n - 1) if n != 0 else x }
in x[2] w[2] -> y, p, q
y = down(x, n = 40)
[p, q] = chain([x, w], n = 7)
''', lambda x, w: (lambda s: (x + 5, s[0], s[1]))((lambda f: f(f, [x, w], 7))(lambda f, s, n: f(f, [s[0] - s[1], s[0]], n - 1) if n else s)))
M('labels-of-loops', '3.3.3 4.1.3', '''
fragment mlp(x: tensor, sizes: extent[], scope: string) -> (y: tensor) {
  w = variable(shape = [sizes[1], sizes[0]], label = scope + '/l' + string(length_of(sizes)) + "'s w")
  h = relu(linear(x, w))
  y = mlp(h, sizes = sizes[1:], scope = scope) if length_of(sizes) > 2 else h
}
in x[2,3] -> y
y = mlp(x, sizes = [3,4,2], scope = 'net')
''', lambda x, **v: np.maximum(np.maximum(x @ v["net/l3's w"].T, 0) @ v["net/l2's w"].T, 0), weights={"net/l3's w": (4, 3), "net/l2's w": (2, 4)}, forms=NOT_RATIFIED)
# ---- selects of one element, with work and states in the branches
M('branch-with-state', '4.2.3 4.7', '''
fragment work(x: tensor, v: tensor) -> (y: tensor) { y = exp(softmax(x * v, axes = [1])) + update(v, v + 1.0) }
in x[2,3] c[1] -> y, z
v = variable(shape = [2,3], label = 'v')
b = gt(c, 0.0)
y = select(b, work(x, v), conv(x, constant(shape = [3,3], value = [1.0,0.0,0.0,0.0,0.5,0.0,0.0,2.0,0.0])))
z = mul(v, 2.0)
''', lambda x, c, v: (np.where(c > 0, np.exp(softmax(x * v)) + v + 1, x @ np.array([[1, 0, 0], [0, .5, 0], [0, 2., 0]]).T), 2 * v), weights={'v': (2, 3)})
def pick(a, k, n): return a if n < 0 else np.where(k > n, np.tanh(np.exp(a) * pick(a - 1, k, n - 1)), 1 / (1 + np.exp(-a * a)))
for v in (-1.0, 0.5, 1.5, 2.5):
    M(f'branches-within-{v}', '4.2.3', '''
fragment pick(a: tensor, k: tensor, n: extent) -> (y: tensor) {
  y = select(k > scalar(n), tanh(exp(a) * pick(a - 1.0, k, n = n - 1)), sigmoid(a * a)) if n >= 0 else a
}
in x[3,2] k[1,1] -> y, z
y = pick(x, k, n = 2)
z = select(lt(k, 9.0), pick(x, k, n = 0), reshape(5.0, shape = [1,1,1]))
''', lambda x, k: (pick(x, k, 2), pick(x, k, 0)), values=dict(k=[[v]]))
# ---- filters, biases and bounds that are computed
M('computed-parameters', '4.3.1', '''
in x[1,2,5,4] w[3,2,2,3] -> y, z, u
v = variable(shape = [3,2,2,3], label = 'v')
n = update(v, sub(mul(w, 2.0), v))
b = mean_reduce(transpose(w, perm = [1,0]), axes = [0,2,3])
y = conv(x, n, b, stride = [2,1])
z = deconv(y, v, max_reduce(b, axes = [1]), stride = [2,1])
u = clamp(x, min_reduce(w, axes = [0,1,2,3]), sum_reduce(b, axes = [1]))
''', lambda x, w, v: (lambda n, b: (lambda y: (y, deconv(y, v, b.max().reshape(1), stride=(2, 1)), np.maximum(np.minimum(x, b.sum()), w.min())))(conv(x, n, b, stride=(2, 1))))(2 * w - v, w.mean((1, 2, 3))[None]), weights={'v': (3, 2, 2, 3)})
M('literal-bias-and-broadcast-in-rank-six', '3.3.2 4.2.2', '''
in x[2,1,3,1,2,1] a[2] -> y, z, s
y = add(mul(x, a), add_n([1.5, a, 2.0]))
z = select(gt(0.0, x), 0.25, concat([x], axis = 9))
s = sum_reduce(concat([x, x, add(2.0, y)], axis = 0), axes = [0,5,7])
''', lambda x, a: (lambda a: (lambda y: (y, np.where(0 > x, .25, x), np.concatenate([x, x, 2 + y]).sum((0, 5), keepdims=True)))(x * a + 1.5 + a + 2))(a.reshape(2, 1, 1, 1, 1, 1)))
# ---- extents that stay open
def O(name, doc, fn, **k): M('open-' + name, '3.3.4', doc, fn, **k)
O('windows', '''
in x[0,2,0,0] -> a, b, c, d, e
a = conv(x, constant(shape = [2,1,3,2], value = [1.0,0.5,-1.0,0.25,2.0,-0.5,1.5,1.0,-2.0,0.5,0.25,-0.125]), groups = 2, stride = [2,3], border = 'replicate')
b = avg_pool(x, size = [2,1,2,3], stride = [1,1,3,2], border = 'ignore')
c = max_pool(x, size = [1,2,3,1], dilation = [1,1,2,1], border = 'reflect-even')
d = deconv(x, constant(shape = [2,3,2,2], value = [0.5]), stride = [2,1])
e = max_pool(x, size = [1,1,2,2], stride = [1,1,2,2], padding = [(0,0),(0,0),(1,0)])
''', lambda x: (conv(x, np.array([1.0, 0.5, -1.0, 0.25, 2.0, -0.5, 1.5, 1.0, -2.0, 0.5, 0.25, -0.125]).reshape(2, 1, 3, 2), 0, 'replicate', stride=(2, 3), groups=2), box(x, [2, 1, 2, 3], 'ignore', stride=(1, 1, 3, 2), normalize=True), max_pool(x, [1, 2, 3, 1], border='reflect-even', dilation=(1, 1, 2, 1)), deconv(x, np.full((2, 3, 2, 2), .5), stride=(2, 1)), max_pool(x, [1, 1, 2, 2], stride=(1, 1, 2, 2), padding=((0, 0), (0, 0), (1, 0)))), data=dict(x=(2, 2, 5, 4)))
O('indices', '''
in x[0,1,0] -> p, y, s
(p, i) = max_pool_with_index(x, size = [1,1,3], stride = [1,1,2])
y = desample(p, i, size = [1,1,3], stride = [1,1,2])
s = sample(y, i, size = [1,1,3], stride = [1,1,2], border = 'replicate')
''', lambda x: (lambda i: (lambda p: (lambda y: (p, y, sample(y, i, [1, 1, 3], 'replicate', stride=(1, 1, 2))))(desample(p, i, [1, 1, 3], stride=(1, 1, 2))))(max_pool(x, [1, 1, 3], stride=(1, 1, 2))))(argmax_pool(x, [1, 1, 3], stride=(1, 1, 2))), data=dict(x=(3, 1, 6)))
O('shapes', '''
in x[0,6,0] -> a, b, c, d, e
a = reshape(x, shape = [0,2,-1])
b = transpose(x, perm = [3,2,0,1])
[p, q] = split(x, axis = 1, ratios = [1,2])
c = concat([q, p, x], axis = 1)
d = concat([x, reshape(x, shape = [0,0,0,1])], axis = 3)
e = reshape(sum_reduce(x, axes = [0,4]), shape = [-1,3])
''', lambda x: (x.reshape(2, 2, 15), x[..., None].transpose(3, 2, 0, 1), np.concatenate([x[:, 2:], x[:, :2], x], 1), np.stack([x, x], 3), x.sum(0).reshape(-1, 3)), data=dict(x=(2, 6, 5)), forms=(*ALL, 'open'))
O('compounds', '''
in x[0,3,0] -> a, b, c, d, e, f
m, v = moments(x, axes = [0,2])
a = batch_normalization(x, m, v, offset = 0.5, scale = m, epsilon = 0.125)
b = softmax(x, axes = [2,0])
c = local_response_normalization(x, size = [1,2,3], alpha = 0.5)
d = l2_normalization(x, axes = [1], bias = 0.25)
e = multilinear_upsample(x, factor = [3], border = 'constant')
f = linear_quantize(x, min_reduce(x, axes = [0,1,2]), 4.0, bits = 2)
''', lambda x: (lambda m, v: (.5 + m * (x - m) / np.sqrt(v + .125), softmax(x, (0, 2)), lrn(x, [1, 2, 3], .5), x / np.sqrt((x * x).sum(1, keepdims=True) + .25), upsample(x, (3,), border='constant'), linear_quantize(x, np.float64(-2), 4., 2)))(x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)), data=dict(x=(2, 3, 2)), values=dict(x=[[[1, -2], [.5, 3], [1.25, 0]], [[-.5, 2], [1, 1], [.25, 2.75]]]))
O('products', '''
in x[0,0] w[0,4] -> y, z
y = matmul(x, w, trA = true)
z = linear(w, constant(shape = [2,4], value = [0.5]), 1.0)
''', lambda x, w: (x.T @ w, w.sum(1, keepdims=True) * .5 * np.ones((1, 2)) + 1), data=dict(x=(3, 2), w=(3, 4)), forms=(*ALL, 'open'))
O('broadcast', '''
in x[0,3] w[2,0,4] -> y, z
y = sub(x, w)
z = select(lt(x, 1.0), x, -1.0)
''', lambda x, w: (x[:, :, None] - w, np.where(x < 1, x, -1)), data=dict(x=(2, 3), w=(2, 3, 4)), forms=(*ALL, 'open'))
O('broadcast-of-one', '''
in x[0,3] w[2,0,4] -> y
y = sub(x, w)
''', lambda x, w: x[:, :, None] - w, data=dict(x=(1, 3), w=(2, 1, 4)), forms=(*ALL, 'open'))
O('sampling', '''
in x[1,0,0,0] -> a, b, c, d
a = nearest_downsample(x, factor = [2,3])
b = area_downsample(x, factor = [1,3])
c = nearest_upsample(a, factor = [3])
d = multilinear_upsample(x, factor = [2,2], method = 'aligned')
''', lambda x: (x[:, :, ::2, ::3], x.reshape(1, 2, 4, 2, 3).mean(4), x[:, :, ::2, ::3].repeat(3, 2), upsample(x, (2, 2), 'aligned')), data=dict(x=(1, 2, 4, 6)), forms=(*ALL, 'open'))
O('high-rank', '''
in x[0,1,0,1,2,0] -> a, b
a = conv(x, constant(shape = [1,1,2,1,1,2], value = [1.0,-0.5,2.0,0.25]), stride = [2], dilation = [1,1,1,2])
b = box(x, size = [2,1,1,1,2,2], border = 'reflect-even', normalize = true)
''', lambda x: (conv(x, np.array([1, -.5, 2, .25]).reshape(1, 1, 2, 1, 1, 2), stride=(2,), dilation=(1, 1, 1, 2)), box(x, [2, 1, 1, 1, 2, 2], 'reflect-even', normalize=True)), data=dict(x=(2, 1, 3, 1, 2, 3)), forms=NO_IR)
# ---- windows in the border
M('windows-in-the-border', '4.3', '''
in x[1,1,2] -> a, b, c, d
n = sub(x, 5.0)
a = max_pool(n, size = [1,1,2], padding = [(0,0),(0,0),(3,4)])
b = max_pool(n, size = [1,1,2], padding = [(0,0),(0,0),(3,4)], border = 'ignore')
c = avg_pool(n, size = [1,1,2], padding = [(0,0),(0,0),(3,4)], border = 'ignore')
d = max_pool(n, size = [1,1,2], padding = [(0,0),(0,0),(3,4)], border = 'replicate', stride = [1,1,3])
''', lambda x: (lambda n, p: (max_pool(n, [1, 1, 2], padding=p), max_pool(n, [1, 1, 2], padding=p, border='ignore'), box(n, [1, 1, 2], 'ignore', p, normalize=True), max_pool(n, [1, 1, 2], padding=p, border='replicate', stride=(1, 1, 3))))(x - 5, ((0, 0), (0, 0), (3, 4))), forms=ALL[:-1])
M('upsample-of-high-rank', '4.3.4', '''
in x[1,2,1,2,3] -> a, b, c
a = multilinear_upsample(x, factor = [3,1,2])
b = multilinear_upsample(x, factor = [2,2,2], method = 'asymmetric', border = 'constant')
c = multilinear_upsample(x, factor = [1,3])
''', lambda x: (upsample(x, (3, 1, 2)), upsample(x, (2, 2, 2), 'asymmetric', 'constant'), upsample(x, (1, 3))))
M('constants-only', '4.1.2', '''
in x[1] -> y, z, w
a = constant(shape = [1,2,3], value = [1.0,-2.0,3.0,-4.0,5.0,-6.0])
y = conv(a, constant(shape = [2,2,2], value = [0.5,1.0,-1.0,2.0,0.25,0.5,1.5,-0.5]))
z = add(softmax(a, axes = [2]), x)
w = max_pool(neg(a), size = [1,1,2], stride = [1,1,2])
''', lambda x: (lambda a: (conv(a, np.array([.5, 1, -1, 2, .25, .5, 1.5, -.5]).reshape(2, 2, 2)), softmax(a, (2,)) + x, max_pool(-a, [1, 1, 2], stride=(1, 1, 2))))(np.array([1., -2, 3, -4, 5, -6]).reshape(1, 2, 3)))
M('one-value-many-results', '3.3.1', '''
in x[2,3] -> x1, x2, s, t, k
x1 = idn(x) x2 = reshape(x1, shape = [0,0]) k = constant(shape = [2], value = [1.0])
s = transpose(x2, perm = [0,1])
[t] = split(s, axis = 0, ratios = [2])
''', lambda x: (x, x, x, x, np.ones(2)))
M('unused', '3.3.1', '''
in x[2] u[3] -> y
z = exp(u)
v = variable(shape = [3], label = 'v')
w = update(v, z)
y = neg(x)
''', lambda x, u, v: -x, weights={'v': (3,)})
# ---- ratified: rank 0, extents of 0, integers
R('rank-zero', '4', '''
extension KHR_enable_operator_expressions;
in s[] i:integer[] x[2,3] -> a, b, c, d, e, f, g, h
a = add(s, x);
b = unsqueeze(s, axes = [0,1]);
c = stack([s, sum_reduce(s, axes = [])], axis = 0);
d = gather(x, i, axis = 1);
e = reshape(mean_reduce(x, axes = [0,1]), shape = []);
f = transpose(tile(pad(s, padding = []), repeats = []), axes = []);
g = cast<scalar>(gather(constant<integer>(shape = [3], value = [7,-8,9]), i));
h = select(s < 0.0, i, 5);
''', lambda s, i, x: (s + x, s.reshape(1, 1), np.array([s, s]), x[:, int(i)], x.mean(), s, np.array([7., -8, 9])[int(i)], np.where(s < 0, i, 5)), indices=3)
R('extent-zero', '4.5.4', '''
extension KHR_enable_operator_expressions;
in x[4,3] -> a, b, c, d, e
n = slice(x, axes = [0], begin = [2], end = [2], stride = [1]);
a = exp(n);
b = concat([n, x, n], axis = 0);
c = sum_reduce(n, axes = [0]);
d = matmul(n, x, transposeB = true);
e = matmul(transpose(x, axes = [1,0]), concat([n, x], axis = 0)) + matmul(n, n, transposeA = true);
''', lambda x: (x[:0], x, np.zeros((1, 3)), np.zeros((0, 4)), x.T @ x), forms=ALL[:-1])
R('integers', '3.3.1', RFRAG + '''fragment last<?>( x: tensor<?>, n: integer = 1 ) -> ( y: tensor<?> ) { y = slice<?>(x, axes = [0], begin = [-n], end = [2147483647]); }
fragment both<?>( x: tensor<?>[] ) -> ( y: tensor<?>[] ) { y = [for t in x yield last<?>(t, n = 2)] + [for t in x if length_of(x) > 1 yield last(t)]; }
in i:integer[4,2] j:integer[3] b:logical[3] -> p, q, r, s, t, u
[p] = both([i]);
[q] = both([transpose(i, axes = [0])]);
r = tile(last(j), repeats = [3]);
s = stack([j, select(b, j, last(j))], axis = 1);
[t, u] = unstack(concat([s, s], axis = 0), axis = 1);
''', lambda i, j, b: (i[2:], i[2:], np.repeat(j[2:], 3), np.stack([j, np.where(b, j, j[2:])], 1), np.tile(j, 2), np.tile(np.where(b, j, j[2:]), 2)))
R('arg-of-two-axes', '4.4', '''
in x[2,3,4] -> a, b
a = argmax_reduce(x, axes = [2]);
b = argmin_reduce(x, axes = [1]);
''', lambda x: (x.argmax(2)[..., None], x.argmin(1)[:, None]), coarse=True)
R('gathers', '4.5.7', '''
extension KHR_enable_operator_expressions;
in x[2,3,4] i:integer[2,1,2] b:logical[3] -> a, c, d
a = gather(x, i, axis = 1);
c = gather(b, i);
d = gather(gather(x, constant<integer>(shape = [1], value = [1]), axis = 0), slice(i, axes = [0], begin = [1], end = [2]), axis = 2);
''', lambda x, i, b: (x[:, i], b[i], np.take(x[1:2], i[1:2], axis=2)), indices=3)
R('slices-of-everything', '4.5.4', '''
in x[5,4,3] -> a, b, c, d
a = slice(x, axes = [2,0,1], begin = [-1,-1,0], end = [-4,-100,4], stride = [-2,-3,3]);
b = slice(x, axes = [0], begin = [-5], end = [3]);
c = slice(x, axes = [1,2], begin = [1,1], end = [0,0]);
d = slice(x, axes = [0], begin = [1], end = [5], stride = [3]);
''', lambda x: (x[::-1, ::3][::3, :, ::-1][:, :, ::2], x[:3], x[:, 1:, 1:], x[1:5:3]))
R('conv-of-crops', '4.3', '''
in x[1,2,6,6] w[2,2,3,3] -> a, b, c
a = conv(x, w, padding = [(-1,0),(2,-2)], border = 'replicate', stride = [1,2]);
b = box(x, size = [1,1,2,2], padding = [(0,0),(0,0),(-2,1),(1,-1)], border = 'reflect', normalize = true);
c = max_pool(x, size = [1,1,2,2], padding = [(0,0),(0,0),(-1,-1),(0,1)], border = 'ignore');
''', lambda x, w: (conv(x, w, 0, 'replicate', ((-1, 0), (2, -2)), (1, 2)), box(x, [1, 1, 2, 2], 'reflect', ((0, 0), (0, 0), (-2, 1), (1, -1)), normalize=True), max_pool(x, [1, 1, 2, 2], border='ignore', padding=((0, 0), (0, 0), (-1, -1), (0, 1)))))
R('linear-and-prelu', '4.9', '''
extension KHR_enable_operator_expressions;
in x[3,4] w[2,4] b[1,2] -> a, c, d
a = linear(x, w, b);
c = prelu(x, -0.5);
d = leaky_relu(prelu(x, x), alpha = 2.0);
''', lambda x, w, b: (x @ w.T + b, np.where(x < 0, -.5 * x, x), np.where(x < 0, x * x, x)))
R('windows-of-rank-one-and-two', '4.3', '''
in x[7] y[4,5] -> a, b, c, d
a = box(x, size = [3], stride = [2], border = 'reflect');
b = max_pool(y, size = [2,3], stride = [2,2], dilation = [2,1]);
c = debox(x, size = [2], stride = [2], padding = [(1,0)], normalize = true);
d = avg_pool(y, size = [3,1], border = 'ignore', stride = [3,2]);
''', lambda x, y: (box(x, [3], 'reflect', stride=(2,), clip=True), max_pool(y, [2, 3], stride=(2, 2), dilation=(2, 1), clip=True), debox(x, [2], stride=(2,), padding=((1, 0),), normalize=True), box(y, [3, 1], 'ignore', stride=(3, 2), normalize=True, clip=True)))

# ---- attributes, arrays and tuples through fragments
M('attributes-as-results', '3.3.1 3.3.3', '''
fragment plan(n: extent, names: string[]) -> (sizes: extent[], last: string, pairs: (extent,scalar)[]) {
  sizes = [i * n for i in [1,2,3] if i * n != 4]
  last = names[length_of(names) - 1][:2] + string(n)
  pairs = [(i, scalar(i) / 4.0) for i in range_of(names)]
}
fragment use(x: tensor, n: extent) -> (y: tensor) {
  sizes, last, pairs = plan(n = n, names = ['ab', 'cde'])
  y = reshape(x, shape = sizes + [-1]) * pairs[1][1] if last == 'cd' + string(n) else x
}
in x[12] -> p, q
p = use(x, n = 2)
q = use(x, n = 1)
''', lambda x: (x.reshape(2, 6, 1) / 4, x.reshape(1, 2, 3, 2) / 4))
M('items-of-results', '3.3.3', '''
fragment f(x: tensor) -> (y: tensor) {
  y = split(x, axis = 1, ratios = [1,2,1])[1] * moments(x, axes = [1])[0] - copy_n(x, times = 3)[1:][0] if false else
      split(x, axis = 1, ratios = [1,2,1])[1] * moments(x, axes = [1])[0] - split(x, axis = 1, ratios = [1,1])[0]
}
in x[2,4] -> y
y = f(x)
''', lambda x: x[:, 1:3] * x.mean(1, keepdims=True) - x[:, :2])
M('one-label-twice', '3.3.5 4.7', '''
fragment reader(x: tensor) -> (y: tensor) { y = x * variable(shape = [1,3], label = 's') }
in x[1,3] -> a, b, c, d
v = variable(shape = [1,3], label = 's')
a = update(v, add(v, x))
b = reader(x)
c = idn(v)
d = reader(a)
''', lambda x, s: (s + x, x * s, s, (s + x) * s), weights={'s': (1, 3)})
M('logical-results', '4.2.2', '''
in x[2,3] w[2] -> a, b, c, d
a = lt(x, w)
b = not(a)
c = or(a, ge(x, 0.0))
d = transpose(and(c, true), perm = [1,0])
''', lambda x, w: (lambda a: (a, ~a, a | (x >= 0), (a | (x >= 0)).T))(x < w[:, None]))
NAN, INF = float('nan'), float('inf')
def least(x, y): return np.where(x < y, x, y)
def most(x, y): return np.where(x > y, x, y)
M('no-numbers', '4.2', '''
in x[8] w[8] -> a, b, c, d, e, f, g, h
a = min(x, w) b = max(x, w) c = clamp(x, -1.0, 2.0) d = relu(x) e = eq(x, w) f = ne(x, x) g = select(lt(x, w), x, w) h = leaky_relu(x, alpha = 0.5)
''', lambda x, w: (least(x, w), most(x, w), most(least(x, 2.0), -1.0), most(x, 0.0), x == w, x != x, least(x, w), np.where(x < 0, x / 2, x)),
  values=dict(x=[NAN, 1, NAN, INF, -INF, 0, 2, -3], w=[1, NAN, NAN, 2, INF, -0.0, 2, -INF]), forms=ALL[:-1])
M('poles', '4.2.1', '''
in x[5] -> a, b, c, d, e, f
a = rcp(x) b = log(x) c = sqrt(abs(x)) d = rsqrt(abs(x)) e = pow(x, 3.0) f = exp(mul(x, 100.0))
''', lambda x: (1 / x, np.log(x), np.sqrt(abs(x)), 1 / np.sqrt(abs(x)), x ** 3, np.exp((x * 100).astype(np.float32))), values=dict(x=[0, -1, 2, INF, -INF]))
# ---- the lowest ranks
M('low-ranks', '4', '''
in x[4] s[1] -> a, b, c, d, e, f, g, h
a = softmax(x) b = matmul(x, x, trA = true) c = local_response_normalization(x, size = [3,1,2], alpha = 0.5) d = mean_reduce(x, axes = [1])
e, f = moments(x, axes = [2])
g = concat([x, s, 0.5], axis = 0)
h = batch_normalization(x, 0.5, s, 1.0, 2.0, epsilon = 4.0)
''', lambda x, s: (0 * x + 1, (x @ x).reshape(1), lrn(x, [3, 1, 2], .5), x, x, 0 * x, np.concatenate([x, s, [.5]]), 1 + 2 * (x - .5) / np.sqrt(s + 4)))
M('low-rank-windows', '4.3', '''
in x[3] w[2] f[2] -> a, b, c, d, e, g
a = box(x, size = [2], border = 'replicate', normalize = true)
b, i = max_pool_with_index(x, size = [2], stride = [2])
c = desample(b, i, size = [2], stride = [2])
d = conv(x, f)
e = deconv(x, reshape(f, shape = [1,2]), stride = [3])
g = nearest_upsample(x, factor = [2])
''', lambda x, w, f: (lambda i, b: (box(x, [2], 'replicate', normalize=True), b, desample(b, i, [2], stride=(2,)), x[:, None] * f, deconv(x, f[None], stride=(3,)), x.reshape(3, 1, 1).repeat(2, 2)))(argmax_pool(x, [2], stride=(2,)), max_pool(x, [2], stride=(2,))))
M('singleton-everything', '4', '''
in x[1,1,1] -> a, b, c, d, e, f, g
a = conv(x, constant(shape = [1,1,1], value = [2.0])) b = max_pool(x, size = [1,1,3], border = 'ignore') c = softmax(x, axes = [0,1,2])
d = multilinear_upsample(x, factor = [3], border = 'constant') e = transpose(x, perm = [2,1,0]) f = l2_normalization(x, axes = [1], bias = 1.0)
[g] = split(x, axis = 2, ratios = [1])
''', lambda x: (2 * x, x, 0 * x + 1, upsample(x, (3,), border='constant'), x, x / np.sqrt(x * x + 1), x))
M('wide-windows', '4.3', '''
in x[1,1,3,2] -> a, b, c, d
a = box(x, size = [1,1,7,5])
b = avg_pool(x, size = [1,1,7,5], border = 'ignore', stride = [1,1,2,2])
c = max_pool(x, size = [1,1,3,2], dilation = [1,1,3,4], border = 'replicate')
d = conv(x, constant(shape = [1,1,5,4], value = [0.5]), border = 'replicate', dilation = [2,1])
''', lambda x: (box(x, [1, 1, 7, 5]), box(x, [1, 1, 7, 5], 'ignore', stride=(1, 1, 2, 2), normalize=True), max_pool(x, [1, 1, 3, 2], border='replicate', dilation=(1, 1, 3, 4)), conv(x, np.full((1, 1, 5, 4), .5), 0, 'replicate', dilation=(2, 1))))
M('all-lists', '4.3', '''
in x[2,4,5,6] w[6,2,2,3] -> y, z
y = conv(x, w, constant(shape = [1,6], value = [0.5,1.0,1.5,2.0,2.5,3.0]), border = 'reflect', padding = [(2,1),(3,0)], stride = [2,3], dilation = [3,2], groups = 2)
z = deconv(y, transpose(w, perm = [0,1,3,2]), -0.5, padding = [(0,1),(2,0)], stride = [3,1], dilation = [1,2], groups = 3)
''', lambda x, w: (lambda y: (y, deconv(y, w.transpose(0, 1, 3, 2), -.5, 'constant', ((0, 1), (2, 0)), (3, 1), (1, 2), 3)))(conv(x, w, np.arange(1, 7)[None] / 2, 'reflect', ((2, 1), (3, 0)), (2, 3), (3, 2), 2)))
M('desample-overlaps', '4.3.3', '''
in x[1,2,6] w[1,2,6] -> y, z
i = argmax_pool(x, size = [1,2,4], border = 'replicate')
y = desample(w, i, size = [1,2,4])
z = sample(w, i, size = [1,2,4], border = 'reflect-even')
''', lambda x, w: (lambda i: (desample(w, i, [1, 2, 4]), sample(w, i, [1, 2, 4], 'reflect-even')))(argmax_pool(x, [1, 2, 4], 'replicate')))
M('fused-chains', '4.2 4.8', '''
in x[2,3,4] w[3,3,1] -> y, z, u
a = conv(x, w, 0.25)
b = leaky_relu(clamp(mul(add(a, 1.0), 0.5), -0.5, 4.0), alpha = 0.125)
y = clamp(add(mul(relu(b), -2.0), b), -1.0, 1.5)
z = elu(elu(sub(2.0, mul(a, a))))
u = sigmoid(sub(tanh(neg(y)), sqr(z)))
''', lambda x, w: (lambda a: (lambda b: (lambda y, z: (y, z, 1 / (1 + np.exp(-(np.tanh(-y) - z * z)))))(clamp(-2 * np.maximum(b, 0) + b, -1, 1.5), (lambda e: e(e(2 - a * a)))(lambda v: np.where(v < 0, np.exp(v) - 1, v))))((lambda c: np.where(c < 0, c / 8, c))(clamp((a + 1) / 2, -.5, 4))))(conv(x, w, .25)))
# ---- ratified corners
R('reshape-ranges', '4.5.1', '''
in x[2,3,4,5] -> a, b, c, d
a = reshape(x, shape = [0,-1], axis_start = 1);
b = reshape(x, shape = [-1], axis_start = 1, axis_count = 2);
c = reshape(x, shape = [2,1,2], axis_start = 2, axis_count = 1);
d = reshape(x, shape = [1,1], axis_start = 3, axis_count = 0);
''', lambda x: (x.reshape(2, 3, 20), x.reshape(2, 12, 5), x.reshape(2, 3, 2, 1, 2, 5), x.reshape(2, 3, 4, 1, 1, 5)))
R('types-of-shapes', '4.5', '''
in i:integer[2,3] b:logical[2,3] -> a, c, d, e, f, g
a = tile(b, repeats = [2,1]);
[p, q, r] = unstack(i, axis = 1);
c = stack([r, q, p], axis = 1);
d = slice(i, axes = [1], begin = [-1], end = [-4], stride = [-2]);
[e, s] = split(b, axis = 1, ratios = [2,1]);
f = gather(b, i, axis = 0);
[g] = copy_n(c, times = 1);
''', lambda i, b: (np.tile(b, (2, 1)), i[:, ::-1], i[:, ::-2], b[:, :2], b[i], i[:, ::-1]), indices=2)
R('reverse-shapes', '4.3', '''
in x[1,4,3] w[4,2,2] -> a, b, c, d
a = deconv(x, w, stride = [3], groups = 2, output_shape = [1,4,8]);
b = debox(x, size = [1,2,2], stride = [1,2,2], output_shape = [1,7,5], normalize = true);
c = debox(x, size = [1,1,4], padding = [(0,0),(0,0),(1,1)], stride = [1,1,2], output_shape = [1,4,7]);
i = argmax_pool(x, size = [1,2,1], stride = [1,1,1]);
d = desample(x, i, size = [1,2,1], output_shape = [1,4,3]);
''', lambda x, w: (deconv(x, w, stride=(3,), groups=2, clip=True, to=(1, 4, 8)), debox(x, [1, 2, 2], stride=(1, 2, 2), clip=True, to=(1, 7, 5), normalize=True), debox(x, [1, 1, 4], padding=((0, 0), (0, 0), (1, 1)), stride=(1, 1, 2), clip=True, to=(1, 4, 7)), desample(x, argmax_pool(x, [1, 2, 1], clip=True), [1, 2, 1], clip=True, to=(1, 4, 3))))
R('sums', '4.9.6', '''
in x[2,3] y[2,1] -> a, b, c
a = add_n([x]);
b = add_n([y, x, y, 1.0]);
c, m = moments(x, axes = []);
''', lambda x, y: (x, 2 * y + x + 1, x))
R('eight-axes', '4', '''
in x[1,2,1,2,1,2,1,2] y[1,2,2] -> a, b, c, d
a = transpose(x, axes = [7,6,5,4,3,2,1,0]);
b = mul(x, y);
c = max_reduce(b, axes = [7,1]);
d = box(x, size = [1,2,1,2,1,1,1,2], border = 'replicate');
''', lambda x, y: (x.transpose(), x * y.reshape(1, 2, 2, 1, 1, 1, 1, 1), (x * y.reshape(1, 2, 2, 1, 1, 1, 1, 1)).max((1, 7), keepdims=True), box(x, [1, 2, 1, 2, 1, 1, 1, 2], 'replicate')))
R('rounding-casts', '4.5.8 4.2.1', '''
in x[8] -> a, b, c, d
a = cast<integer>(x);
b = cast<scalar>(a);
c = cast<logical>(x);
n = neg(x);
d = round(n);
''', lambda x: (np.floor(x), np.floor(x), x != 0, rnd(-x)), values=dict(x=[-2.5, -1.0, -0.25, -0.0, 0.25, 0.5, 1.5, 2.75]))
R('branches-of-integers', '4.2.3', '''
extension KHR_enable_operator_expressions;
in x[2,3] k[1] i:integer[2,3] -> a, b
a = select(k > 0.0, stack([copy<integer>(i)], axis = 2), stack([cast<integer>(softmax(x) * 8.0 - 4.0)], axis = 2));
b = select(k > 0.0, all_reduce(x > 0.0, axes = [0]), any_reduce(x < 0.0, axes = [1]));
''', lambda x, k, i: (i[:, :, None] if k[0] > 0 else np.floor(softmax(x) * 8 - 4)[:, :, None], (x > 0).all(0, keepdims=True) | np.zeros((2, 1), bool) if k[0] > 0 else (x < 0).any(1, keepdims=True) | np.zeros((1, 3), bool)))
