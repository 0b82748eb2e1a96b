# SPDX-License-Identifier: Apache-2.0
"""What Numba's kernels use: functions, local and constant arrays, atomics, exchange in warps,
shared memory of a size given at launch, random numbers, complex numbers, records, printing,
debugging."""
import math
import warnings

import numpy as np
from numba import cuda, float32, guvectorize, int32, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

warnings.simplefilter("ignore")
CONSTANTS = np.arange(10.0)


@cuda.jit
def functions(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.sin(x[i]) + math.exp(x[i]) + math.pow(abs(x[i]), 1.5) + math.erf(x[i])


@cuda.jit
def arrays(out):
    local = cuda.local.array(16, int32)
    constant = cuda.const.array_like(CONSTANTS)
    i = cuda.grid(1)
    for j in range(16):
        local[(j * 7 + i) % 16] = j
    total = 0
    for j in range(16):
        total += local[j] * j
    out[i] = total + constant[i % 10]


@cuda.jit
def histogram(x, bins, most):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)
        cuda.atomic.max(most, 0, x[i])


@cuda.jit
def warps(x, sums, votes):
    i = cuda.grid(1)
    value = x[i]
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xffffffff, value, distance)
    vote = cuda.ballot_sync(0xffffffff, x[i] >= 8)
    if i % 32 == 0:
        sums[i // 32] = value
        votes[i // 32] = cuda.popc(vote)


@cuda.jit
def reverse(out):
    values = cuda.shared.array(0, float32)
    values[cuda.threadIdx.x] = cuda.threadIdx.x
    cuda.syncthreads()
    out[cuda.threadIdx.x] = values[cuda.blockDim.x - 1 - cuda.threadIdx.x]


@cuda.jit
def uniform(states, out):
    i = cuda.grid(1)
    out[i] = xoroshiro128p_uniform_float32(states, i)


@cuda.jit
def quotient(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * x[i] / (x[i] + 1)


@cuda.jit
def scale(records):
    i = cuda.grid(1)
    records[i].b = records[i].a * 2.0


@cuda.jit(device=True)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@cuda.jit
def recursive(out):
    out[cuda.grid(1)] = fibonacci(cuda.grid(1) % 10)


@cuda.jit
def show():
    print("thread", cuda.threadIdx.x, 1.5)


@cuda.jit(debug=True, opt=False)
def checked(x):
    if x[0] > 1:
        raise ValueError("the first element")
    x[cuda.grid(1)] *= 2


@vectorize(["float32(float32, float32)"], target="cuda")
def combined(a, b):
    return a * b + 1


@guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)",
             target="cuda")
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def main():
    x = np.linspace(-3, 3, 1000)
    y = np.zeros_like(x)
    functions[8, 128](x, y)
    assert np.allclose(y, np.sin(x) + np.exp(x) + np.abs(x) ** 1.5 + [math.erf(v) for v in x])
    out = np.zeros(64)
    arrays[2, 32](out)
    places = (np.arange(16) * 7 + np.arange(64)[:, None]) % 16
    assert (out == (places * np.arange(16)).sum(1) + CONSTANTS[np.arange(64) % 10]).all()
    x, bins, most = np.random.randint(0, 10, 1000), np.zeros(10, np.int64), np.zeros(1, np.int64)
    histogram[8, 128](x, bins, most)
    assert (bins == np.bincount(x, minlength=10)).all() and most[0] == x.max()
    x, sums, votes = np.arange(64), np.zeros(2, np.int64), np.zeros(2, np.int64)
    warps[1, 64](x, sums, votes)
    assert list(sums) == [x[:32].sum(), x[32:].sum()] and list(votes) == [24, 32]
    out = np.zeros(32, np.float32)
    reverse[1, 32, 0, 128](out)
    assert (out == np.arange(31, -1, -1)).all()
    out = np.zeros(256, np.float32)
    uniform[2, 128](create_xoroshiro128p_states(256, seed=1), out)
    assert 0.4 < out.mean() < 0.6 and len(set(out)) > 200
    x = np.random.rand(128) + 1j * np.random.rand(128)
    y = np.zeros_like(x)
    quotient[1, 128](x, y)
    assert np.allclose(y, x * x / (x + 1))
    records = np.zeros(16, np.dtype([("a", np.int32), ("b", np.float64)], align=True))
    records["a"] = np.arange(16)
    scale[1, 16](records)
    assert (records["b"] == 2 * records["a"]).all()
    out = np.zeros(32, np.int64)
    recursive[1, 32](out)
    assert list(out[:10]) == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
    show[1, 2]()
    cuda.synchronize()
    x = np.arange(32)
    checked[1, 32](x)
    assert (x == 2 * np.arange(32)).all()
    try:
        checked[1, 32](x + 2)
    except ValueError:
        pass
    else:
        raise AssertionError("the kernel's exception was not raised")
    x = np.random.rand(1000).astype(np.float32)
    assert np.allclose(combined(x, x), x * x + 1)
    a, b = np.random.rand(5, 4, 3), np.random.rand(5, 3, 2)
    assert np.allclose(product(a, b), a @ b)
    values = np.random.rand(5000)
    assert np.allclose(cuda.reduce(lambda a, b: a + b)(values), values.sum())
    print("right")


main()
