# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled by Numba: element by element, a reduction in shared memory, a matrix product,
streams, atomics and a mistake. Exit status 77 where Numba is not installed."""
import sys

try:
    import numba
    import numpy as np
    from numba import cuda
except ImportError as error:
    print(error)
    sys.exit(77)


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def total(values, out):
    part = cuda.shared.array(128, numba.float32)
    lane = cuda.threadIdx.x
    i = cuda.grid(1)
    part[lane] = values[i] if i < values.size else 0
    cuda.syncthreads()
    step = 64
    while step > 0:
        if lane < step:
            part[lane] += part[lane + step]
        cuda.syncthreads()
        step //= 2
    if lane == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit
def product(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        sum_ = 0.0
        for k in range(a.shape[1]):
            sum_ += a[i, k] * b[k, j]
        c[i, j] = sum_


def main():
    assert cuda.is_available()
    name = cuda.get_current_device().name
    assert "H200" in (name.decode() if isinstance(name, bytes) else name), name
    a = np.arange(1000, dtype=np.float32)
    c = np.zeros_like(a)
    add[8, 128](a, 2 * a, c)
    assert (c == 3 * a).all()
    stream = cuda.stream()
    with stream.auto_synchronize():
        values = cuda.to_device(a, stream=stream)
        add[8, 128, stream](values, values, values)
    assert (values.copy_to_host() == 2 * a).all()
    out = cuda.to_device(np.zeros(1, np.float32))
    total[8, 128](cuda.to_device(a), out)
    assert out.copy_to_host()[0] == a.sum()
    left, right = np.random.rand(33, 20), np.random.rand(20, 17)
    result = cuda.device_array((33, 17))
    product[(3, 2), (16, 16)](cuda.to_device(left), cuda.to_device(right), result)
    assert np.allclose(result.copy_to_host(), left @ right)
    print("right")


main()
