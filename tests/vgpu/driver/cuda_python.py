# SPDX-License-Identifier: Apache-2.0
"""The bindings of cuda-python: NVRTC, a module, a launch in a stream. Exit status 77 where they are
not installed."""
import ctypes
import sys

try:
    from cuda.bindings import driver, nvrtc
except ImportError as error:
    print(error)
    sys.exit(77)

SOURCE = b"""
extern "C" __global__ void axpy(float a, const float* x, float* y, size_t n) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""


def ok(result):
    code, *values = result
    assert int(code) == 0, code
    return values[0] if len(values) == 1 else values


def main():
    ok(driver.cuInit(0))
    device = ok(driver.cuDeviceGet(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(device))
    ok(driver.cuCtxSetCurrent(context))
    program = ok(nvrtc.nvrtcCreateProgram(SOURCE, b"axpy.cu", 0, [], []))
    ok(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=sm_90"]))
    code = b" " * ok(nvrtc.nvrtcGetCUBINSize(program))
    ok(nvrtc.nvrtcGetCUBIN(program, code))
    module = ok(driver.cuModuleLoadData(code))
    kernel = ok(driver.cuModuleGetFunction(module, b"axpy"))
    count = 1000
    x = (ctypes.c_float * count)(*range(count))
    y = (ctypes.c_float * count)(*[1] * count)
    size = ctypes.sizeof(x)
    stream = ok(driver.cuStreamCreate(0))
    at_x, at_y = ok(driver.cuMemAlloc(size)), ok(driver.cuMemAlloc(size))
    ok(driver.cuMemcpyHtoDAsync(at_x, ctypes.addressof(x), size, stream))
    ok(driver.cuMemcpyHtoDAsync(at_y, ctypes.addressof(y), size, stream))
    arguments = (2.0, at_x, at_y, count), (ctypes.c_float, None, None, ctypes.c_size_t)
    ok(driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, arguments, 0))
    ok(driver.cuMemcpyDtoHAsync(ctypes.addressof(y), at_y, size, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert list(y) == [2 * i + 1 for i in range(count)]
    for address in (at_x, at_y):
        ok(driver.cuMemFree(address))
    ok(driver.cuModuleUnload(module))
    print("right")


main()
