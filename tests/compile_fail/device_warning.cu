// SPDX-License-Identifier: Apache-2.0
// A warning in device code is an error.
__global__ void kernel(float* p) {
  int unused = 3;
  p[threadIdx.x] = 1.0F;
}
