"""If-8 and TensorIterator-1, written a second time from the documentation alone, with plain loops."""

from __future__ import annotations

import numpy as np

from ir_builder import Blobs, Graph, Port, back_edges
from seed_models import Case
from seed_models import case as enter

f4 = np.float32


class Net(Graph):
    """A graph that computes the shapes of its layers."""

    def __init__(self, blobs: Blobs | None = None) -> None:
        super().__init__(blobs)
        self.bin = self.blobs

    def op(self, type_: str, inputs: list[Port], outputs: list[tuple], version: str = "opset1", more: str = "", **data):
        """Adds a layer; returns the port of its only output, or the ports of all."""
        layer = self.add(type_, version, inputs, [(kind, list(shape)) for shape, kind in outputs], data, more=more)
        return layer[0] if len(outputs) == 1 else [layer[k] for k in range(len(outputs))]

    def param(self, name: str, shape: tuple, kind: str = "f32", data: bool = True) -> Port:
        port = self.parameter(list(shape), kind, name)
        if not data:
            port.layer.data = {}
        return port

    def like(self, port: Port) -> tuple[str, list[int]]:
        return port.layer.outputs[port.index]

    def value(self, array: np.ndarray) -> Port:
        return self.const(array, array.dtype.type)

    def bi(self, type_: str, a: Port, b: Port, kind: str = "") -> Port:
        shape = np.broadcast_shapes(self.like(a)[1], self.like(b)[1])
        return self.binary(type_, a, b, list(shape), kind or self.like(a)[0])

    def un(self, type_: str, a: Port) -> Port:
        return self.add(type_, "opset1", [a], [self.like(a)])[0]

    def reduce(self, a: Port, axes: tuple) -> Port:
        kind, shape = self.like(a)
        kept = [1 if axis in axes else extent for axis, extent in enumerate(shape)]
        return self.op("ReduceSum", [a, self.value(np.array(axes, np.int64))], [(kept, kind)], keep_dims="true")

    def reshape(self, a: Port, shape: tuple) -> Port:
        return self.op("Reshape", [a, self.value(np.array(shape, np.int64))], [(shape, self.like(a)[0])], special_zero="false")

    def done(self, port: Port) -> int:
        return self.result(port).number

    def branch(self, cond: Port, inputs: list[Port], then: Net, els: Net, outputs: list[tuple], then_map: tuple, else_map: tuple,
               index: bool = False):
        """Returns a branch. The maps: (input from 1, parameter) of each input, the result of each output; `index`:
        outputs count from 0."""
        def entries(tag: str, ports: tuple) -> str:
            first = 0 if index else 1 + len(inputs)
            fed = "".join(f'<input external_port_id="{a}" internal_layer_id="{p}"/>' for a, p in ports[0])
            given = "".join(f'<output external_port_id="{first + k}" internal_layer_id="{r}"/>' for k, r in enumerate(ports[1]))
            return f"<{tag}>{fed}{given}</{tag}>"
        return self.op("If", [cond, *inputs], outputs, "opset8", entries("then_port_map", then_map) +
                       entries("else_port_map", else_map) + then.body("then_body") + els.body("else_body"))

    def loop(self, inputs: list[Port], body: Net, fed: list[tuple], outputs: list[tuple], given: list[tuple], back: tuple | list = (),
             shuffled: bool = False):
        """Adds a loop. fed: (input, parameter, slicing), given: (result, concatenation), back: (result, parameter)."""
        if shuffled:
            body.layers.reverse()
        entries = "".join(f'<input external_port_id="{a}" internal_layer_id="{p}" {how}/>' for a, p, how in fed) + "".join(
            f'<output external_port_id="{len(inputs) + k}" internal_layer_id="{r}" {how}/>' for k, (r, how) in enumerate(given))
        return self.op("TensorIterator", inputs, outputs, more=f"<port_map>{entries}</port_map>{back_edges(*back)}{body.body()}")


def part(axis: int, start: int = 0, end: int = -1, stride: int = 1, size: int = 0) -> str:
    return f'axis="{axis}" start="{start}" end="{end}" stride="{stride}" part_size="{size or abs(stride)}"'


def case(make, inputs, openvino="both", count=[0], **want) -> None:  # noqa: B006
    count[0] += 1
    enter(f"again-{make.__name__.replace('_', '-')}-{count[0]}")(
        lambda: Case(make(), inputs, [np.asarray(value) for value in want.values()], openvino))


r = np.random.RandomState(7)
def e8(*s): return (r.randint(-16, 17, s) / 8).astype(f4)

def if_plain(cond_shape=(1,), index=False):
    n = Net(); c = n.param('c', cond_shape, 'boolean'); x = n.param('x', (2, 3)); w = n.param('w', (2, 3))
    t = Net(n.bin); a = t.param('a', (2, 3)); b = t.param('b', (2, 3)); tr = t.done(t.bi('Multiply', a, b))
    e = Net(n.bin); b2 = e.param('b', (2, 3)); er = e.done(e.un('Negative', b2))
    y = n.branch(c, [x, w], t, e, [((2, 3), 'f32')], ([(1, 0), (2, 1)], [tr]), ([(2, 0)], [er]), index)
    n.done(y); return n
X, W = e8(2, 3), e8(2, 3)
for shape, index in (((1,), False), ((), True)):
    for c in (True, False):
        def if_cond(shape=shape, index=index): return if_plain(shape, index)
        case(if_cond, dict(c=np.full(shape, c), x=X, w=W), **dict(y=X * W if c else -W))

def if_shapes():
    "the shapes of the branches differ, results are crossed, one input feeds two parameters"
    n = Net(); x = n.param('x', (2, 4)); zero = n.value(np.zeros((1, 1), f4))
    c = n.reshape(n.bi('Greater', n.reduce(x, (0, 1)), zero, 'boolean'), ())
    t = Net(n.bin); a = t.param('a', (2, 4)); b = t.param('b', (2, 4)); s = t.bi('Add', a, b); t1 = t.done(s); t2 = t.done(t.reduce(a, (1,)))
    e = Net(n.bin); a = e.param('a', (2, 4)); e1 = e.done(e.un('Exp', a)); e2 = e.done(e.reduce(a, (0,)))
    o = n.branch(c, [x], t, e, [((-1, -1), 'f32'), ((2, 4), 'f32')], ([(1, 0), (1, 1)], [t2, t1]), ([(1, 0)], [e2, e1]))
    n.done(o[0]); n.done(n.un('Abs', o[1])); return n
for X in (np.abs(e8(2, 4)) + f4(.125), -np.abs(e8(2, 4))):
    case(if_shapes, openvino='written', inputs=dict(x=X), **dict(y=X.sum(1, keepdims=True), q=np.abs(2 * X)) if X.sum() > 0 else dict(y=X.sum(0, keepdims=True), q=np.exp(X)))

def if_constants():
    n = Net(); c = n.param('c', (1,), 'boolean')
    t = Net(n.bin); tr = t.done(t.value(np.array([8, 9], np.int64))); e = Net(n.bin); er = e.done(e.value(np.array([2, 3], np.int64)))
    n.done(n.branch(c, [], t, e, [((2,), 'i64')], ([], [tr]), ([], [er]))); return n
case(if_constants, dict(c=np.array([True])), **dict(y=np.array([8, 9])))
case(if_constants, dict(c=np.array([False])), **dict(y=np.array([2, 3])))

def if_nested():
    "x < 0: -x; x < 1: x*x; x < 2: x + 10; else 7"
    n = Net(); x = n.param('x', (1,))
    def chain(m, x, rest):
        limit, fn = rest[0]
        if len(rest) == 1: return fn(m, x)
        c = m.bi('Less', x, m.value(np.array([limit], f4)), 'boolean')
        t = Net(m.bin); a = t.param('a', (1,)); tr = t.done(fn(t, a)); e = Net(m.bin); b = e.param('b', (1,)); er = e.done(chain(e, b, rest[1:]))
        return m.branch(c, [x], t, e, [((1,), 'f32')], ([(1, 0)], [tr]), ([(1, 0)], [er]))
    n.done(chain(n, x, [(0, lambda m, v: m.un('Negative', v)), (1, lambda m, v: m.bi('Multiply', v, v)), (2, lambda m, v: m.bi('Add', v, m.value(np.array([10], f4)))), (0, lambda m, v: m.value(np.array([7], f4)))]))
    return n
for v, w in ((-1.5, 1.5), (.5, .25), (1.25, 11.25), (3, 7)): case(if_nested, dict(x=np.array([v], f4)), **dict(y=np.array([w], f4)))

def scan(slice_, concat, T=6, body='Add', shuffle=False, et='f32', c=1):
    n = Net(); x = n.param('x', (2, T), et); h = n.param('h', (2, c), et)
    b = Net(n.bin); p = b.param('p', (2, c), et); q = b.param('q', (2, c), et); s = b.bi(body, p, q); r1 = b.done(s); r2 = b.done(b.un('Negative' if et == 'f32' else 'Sign', s))
    o = n.loop([x, h], b, [(0, 0, slice_), (1, 1, '')], [((2, -1), et), ((2, c), et)], [(r2, concat), (r1, '')], [(r1, 1)], shuffle)
    n.done(o[0]); n.done(o[1]); return n
def scanned(X, H, order, c, back):
    out, h = [], H
    for k in order: h = X[:, k * c:(k + 1) * c] + h; out.append(-h)
    return dict(all=np.concatenate(out[::-1] if back else out, 1), last=h)
X, H = e8(2, 6), e8(2, 1); H2 = e8(2, 2)
def ti_forward(): return scan(part(1), part(1))
case(ti_forward, dict(x=X, h=H), **scanned(X, H, range(6), 1, False))
def ti_bare_axis(): return scan('axis="1"', 'axis="1"', shuffle=True)
case(ti_bare_axis, dict(x=X, h=H), **scanned(X, H, range(6), 1, False))
def ti_reverse_in(): return scan(part(1, -1, 0, -1), part(1))
case(ti_reverse_in, dict(x=X, h=H), **scanned(X, H, range(5, -1, -1), 1, False))
def ti_reverse_out(): return scan(part(1), part(1, -1, 0, -1))
case(ti_reverse_out, dict(x=X, h=H), **scanned(X, H, range(6), 1, True))
def ti_reverse_both(): return scan(part(1, -1, 0, -1), part(1, -1, 0, -1), shuffle=True)
case(ti_reverse_both, dict(x=X, h=H), **scanned(X, H, range(5, -1, -1), 1, True))
def ti_pairs(): return scan(part(1, 0, -1, 2), part(1, 0, -1, 2), c=2)
case(ti_pairs, dict(x=X, h=H2), **scanned(X, H2, range(3), 2, False))
def ti_pairs_reverse(): return scan(part(1, -1, 0, -2), part(1, -1, 0, -2), c=2)
case(ti_pairs_reverse, dict(x=X, h=H2), **scanned(X, H2, range(2, -1, -1), 2, True))
def ti_one_iteration(): return scan(part(1, 0, -1, 2), part(1, -1, 0, -2), T=2, c=2)
case(ti_one_iteration, dict(x=X[:, :2], h=H2), **scanned(X[:, :2], H2, [0], 2, True))
def ti_from_two(): return scan(part(1, 2, -1, 2), part(1, 0, 4, 2), c=2)
case(ti_from_two, openvino='written', inputs=dict(x=X, h=H2), **scanned(X, H2, [1, 2], 2, False))
def ti_to_the_last_but_one(): return scan(part(1, 1, -2, 1), part(1, 0, 4, 1))
case(ti_to_the_last_but_one, openvino='written', inputs=dict(x=X, h=H), **scanned(X, H, [1, 2, 3, 4], 1, False))
def ti_integers(): return scan(part(1), part(1, -1, 0, -1), et='i64')
XI, HI = r.randint(-4, 5, (2, 6)), r.randint(-4, 5, (2, 1))
def ints():
    out, h = [], HI
    for k in range(6): h = XI[:, k:k + 1] + h; out.append(np.sign(h))
    return dict(all=np.concatenate(out[::-1], 1), last=h)
case(ti_integers, dict(x=XI, h=HI), **ints())

def ti_swap():
    "two states are swapped; a third counts"
    n = Net(); x = n.param('x', (3, 1)); a = n.param('a', (2,)); b = n.param('b', (2,)); k = n.param('k', (1,), 'i64')
    d = Net(n.bin); p = d.param('x', (1, 1)); u = d.param('a', (2,)); v = d.param('b', (2,)); c = d.param('k', (1,), 'i64')
    ru = d.done(v); rv = d.done(u); rc = d.done(d.bi('Add', c, d.value(np.array([1], np.int64)))); rs = d.done(d.reshape(c, ()))
    o = n.loop([x, a, b, k], d, [(0, 0, part(0)), (1, 1, ''), (2, 2, ''), (3, 3, '')], [((2,), 'f32'), ((2,), 'f32'), ((1,), 'i64'), ((3,), 'i64')],
             [(ru, ''), (rv, ''), (rc, ''), (rs, part(0, 0, 3))], [(ru, 1), (rv, 2), (rc, 3)])
    for t in o: n.done(t)
    return n
A, B = e8(2), e8(2)
case(ti_swap, openvino='none', inputs=dict(x=e8(3, 1), a=A, b=B, k=np.array([5])), **dict(p=B, q=A, n=np.array([8]), all=np.array([5, 6, 7])))

def ti_two_axes():
    "one slice by columns, one by rows from the end, an invariant; the concatenation is wider than the slices"
    n = Net(); x = n.param('x', (2, 4)); w = n.param('w', (4, 2)); m = n.param('m', (1, 3))
    d = Net(n.bin); p = d.param('p', (2, 1)); q = d.param('q', (1, 2)); v = d.param('m', (1, 3))
    s = d.bi('Multiply', p, v); r1 = d.done(s); r2 = d.done(d.op('MatMul', [p, q], [((2, 2), 'f32')], transpose_a='false', transpose_b='false'))
    o = n.loop([x, w, m], d, [(0, 0, part(1)), (1, 1, part(0, -1, 0, -1)), (2, 2, '')], [((8, 3), 'f32'), ((2, 2), 'f32'), ((2, 8), 'f32')],
             [(r1, part(0, 0, -1, 2)), (r2, ''), (r2, part(1, -1, 0, -2))])
    for t in o: n.done(t)
    return n
X, W, Mm = e8(2, 4), e8(4, 2), e8(1, 3)
case(ti_two_axes, dict(x=X, w=W, m=Mm), **dict(wide=np.concatenate([X[:, k:k + 1] * Mm for k in range(4)]), last=X[:, 3:] @ W[:1], back=np.concatenate([X[:, k:k + 1] @ W[3 - k:4 - k] for k in (3, 2, 1, 0)], 1)))

def ti_counts():
    "nothing is sliced: the concatenated output alone determines the trip count"
    n = Net(); k = n.param('k', (1,))
    d = Net(n.bin); c = d.param('c', (1,)); s = d.bi('Add', c, d.value(np.array([1.5], f4))); rs = d.done(s)
    o = n.loop([k], d, [(0, 0, '')], [((4,), 'f32'), ((1,), 'f32')], [(rs, part(0, 0, 4)), (rs, '')], [(rs, 0)])
    n.done(o[0]); n.done(o[1]); return n
case(ti_counts, dict(k=np.array([-1], f4)), **dict(all=np.array([.5, 2, 3.5, 5], f4), last=np.array([5], f4)))

def ti_without_slices():
    n = Net(); k = n.param('k', (2,))
    d = Net(n.bin); c = d.param('c', (2,)); rs = d.done(d.bi('Multiply', c, c))
    n.done(n.loop([k], d, [(0, 0, '')], [((2,), 'f32')], [(rs, '')], [(rs, 0)])); return n
case(ti_without_slices, dict(k=A), **dict(y=A * A))

def ti_with_if():
    "each iteration: h + x if x > 0, else h * 2"
    n = Net(); x = n.param('x', (1, 5)); h = n.param('h', (1, 1))
    d = Net(n.bin); p = d.param('p', (1, 1)); q = d.param('q', (1, 1)); c = d.reshape(d.bi('Greater', p, d.value(np.zeros((1, 1), f4)), 'boolean'), (1,))
    t = Net(n.bin); a = t.param('a', (1, 1)); b = t.param('b', (1, 1)); tr = t.done(t.bi('Add', a, b)); e = Net(n.bin); b = e.param('b', (1, 1)); er = e.done(e.bi('Add', b, b))
    y = d.branch(c, [p, q], t, e, [((1, 1), 'f32')], ([(1, 0), (2, 1)], [tr]), ([(2, 0)], [er])); ry = d.done(y)
    o = n.loop([x, h], d, [(0, 0, part(1, -1, 0, -1)), (1, 1, '')], [((1, 5), 'f32'), ((1, 1), 'f32')], [(ry, part(1)), (ry, '')], [(ry, 1)])
    n.done(o[0]); n.done(o[1]); return n
V = np.array([[1.5, -1, 0, 2, -.5]], f4)
case(ti_with_if, dict(x=V, h=np.array([[1]], f4)), **dict(all=np.array([[2, 4, 8, 16, 17.5]], f4), last=np.array([[17.5]], f4)))

def if_with_ti(outer=True):
    n = Net(); c = n.param('c', (), 'boolean'); x = n.param('x', (3, 2))
    def loop(m, x, op, back):
        d = Net(n.bin); p = d.param('p', (1, 2)); q = d.param('q', (1, 2)); rs = d.done(d.bi(op, p, q))
        return m.loop([x, m.value(np.ones((1, 2), f4))], d, [(0, 0, part(0, -1, 0, -1) if back else part(0)), (1, 1, '')], [((3, 2), 'f32')], [(rs, part(0))], [(rs, 1)])
    t = Net(n.bin); a = t.param('a', (3, 2)); tr = t.done(loop(t, a, 'Multiply', False)); e = Net(n.bin); a = e.param('a', (3, 2)); er = e.done(loop(e, a, 'Maximum', True))
    n.done(n.branch(c, [x], t, e, [((3, 2), 'f32')], ([(1, 0)], [tr]), ([(1, 0)], [er]))); return n
X = e8(3, 2)
case(if_with_ti, dict(c=np.array(True), x=X), **dict(y=np.cumprod(X, 0)))
case(if_with_ti, dict(c=np.array(False), x=X), **dict(y=np.maximum(1, np.maximum.accumulate(X[::-1], 0))))

def ti_in_ti():
    "rows outside, columns inside; the state of the row continues"
    n = Net(); x = n.param('x', (2, 3)); h = n.param('h', (1, 1))
    d = Net(n.bin); p = d.param('p', (1, 3)); q = d.param('q', (1, 1))
    i = Net(n.bin); a = i.param('a', (1, 1)); b = i.param('b', (1, 1)); rs = i.done(i.bi('Subtract', a, b))
    o = d.loop([p, q], i, [(0, 0, part(1)), (1, 1, '')], [((1, 3), 'f32'), ((1, 1), 'f32')], [(rs, part(1, -1, 0, -1)), (rs, '')], [(rs, 1)]); r1 = d.done(o[0]); r2 = d.done(o[1])
    o = n.loop([x, h], d, [(0, 0, part(0)), (1, 1, '')], [((2, 3), 'f32'), ((1, 1), 'f32')], [(r1, part(0)), (r2, '')], [(r2, 1)])
    n.done(o[0]); n.done(o[1]); return n
X = e8(2, 3)
def inner():
    h, rows = f4(.5), []
    for row in X:
        out = []
        for v in row: h = v - h; out.append(h)
        rows.append(out[::-1])
    return dict(all=np.array(rows), last=np.array([[h]]))
case(ti_in_ti, openvino='none', inputs=dict(x=X, h=np.array([[.5]], f4)), **inner())

def ti_lstm(five=False, bare=False):
    n = Net(); x = n.param('x', (1, 3, 4)); h = n.param('h', (1, 2)); c = n.param('c', (1, 2))
    d = Net(n.bin); p = d.param('p', (1, 1, 4), data=not bare); v = d.reshape(p, (1, 4)); a = d.param('h', (1, 2), data=not bare); b = d.param('c', (1, 2), data=not bare)
    if five: o = d.op('LSTMCell', [v, a, b, d.value(np.concatenate([LW, LR], 1)), d.value(LB)], [((1, 2), 'f32'), ((1, 2), 'f32')], hidden_size=2)
    else: o = d.op('LSTMCell', [v, a, b, d.value(LW), d.value(LR), d.value(LB)], [((1, 2), 'f32'), ((1, 2), 'f32')], 'opset4', hidden_size=2)
    rc = d.done(o[1]); rh = d.done(o[0]); ry = d.done(d.reshape(o[0], (1, 1, 2)))
    n.done(n.loop([x, h, c], d, [(0, p.layer.number, 'axis="1" start="0"'), (1, a.layer.number, ''), (2, b.layer.number, '')], [((1, 3, 2), 'f32')], [(ry, 'axis="1"')], [(rc, b.layer.number), (rh, a.layer.number)])); return n
LW, LR, LB = e8(8, 4), e8(8, 2), e8(8)
X, H, Cc = e8(1, 3, 4), e8(1, 2), e8(1, 2)
def lstm():
    h, c, out = H.astype(float), Cc.astype(float), []
    s = lambda v: 1 / (1 + np.exp(-v))
    for k in range(3):
        g = X[:, k] @ LW.T + h @ LR.T + LB; f, i, z, o = [g[:, 2 * j:2 * j + 2] for j in range(4)]
        c = s(f) * c + s(i) * np.tanh(z); h = s(o) * np.tanh(c); out.append(h)
    return dict(y=np.stack(out, 1).astype(f4))
case(ti_lstm, dict(x=X, h=H, c=Cc), **lstm())
def ti_lstm_bare(): return ti_lstm(bare=True)
case(ti_lstm_bare, openvino='written', inputs=dict(x=X, h=H, c=Cc), **lstm())
def ti_lstm_five(): return ti_lstm(five=True)
case(ti_lstm_five, openvino='written', inputs=dict(x=X, h=H, c=Cc), **lstm())
