// SPDX-License-Identifier: Apache-2.0
// An empty library with a name that programs load. The functions are in libvgpu.so, to which it is
// linked.
