// SPDX-License-Identifier: Apache-2.0
// A device that checks unwritten reads and races, with kernels/checks.cu.
#pragma once
#include "engine_fixture.hpp"
#include "ir/fault.hpp"

class ChecksTest : public EngineTest {
 protected:
  void SetUp() override {
    load("checks");
    memory.track();
    config.check_init = true;
    config.check_race = true;
  }

  // Uninitialised.
  template <class T>
  T* fresh(std::size_t count) {
    return static_cast<T*>(memory.allocate(count * sizeof(T)));
  }
  // Written by the host.
  template <class T>
  T* written(std::size_t count) {
    T* const data = array<T>(count);
    memory.mark_written(data, count * sizeof(T));
    return data;
  }
  using EngineTest::expect_fault;
  template <class... A>
  void expect_fault(vgpu::FaultKind kind, const char* text, const std::string& kernel,
                    vgpu::Dim3 grid, vgpu::Dim3 block, A... arguments) {
    const vgpu::Fault fault = fault_of(kernel, grid, block, arguments...);
    expect_fault(fault, kind, {text});
    EXPECT_NE(fault.file, "");
    EXPECT_GT(fault.line, 0);
  }
};
