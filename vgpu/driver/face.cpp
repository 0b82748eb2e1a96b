// SPDX-License-Identifier: Apache-2.0
// A library whose name programs look for; what it stands for is in libvgpu.so, which it is linked
// to.
