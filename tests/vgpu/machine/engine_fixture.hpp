// SPDX-License-Identifier: Apache-2.0
// A test with a device of its own: loads the compiled kernels/, owns arrays, launches by name. The
// kernels run from PTX, or, if VGPU_TEST_ENGINE is "sass", from machine code where it is supported.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/image_module.hpp"
#include "memory/memory.hpp"

inline void expect_text(const vgpu::Fault& fault, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(std::string(fault.what()).find(part), std::string::npos) << part << " is not in\n"
                                                                       << fault.what();
  }
}

class EngineTest : public testing::Test {
 protected:
  // Loads kernels/<name>.cu.
  void load(const std::string& name, const std::string& folder = VGPU_TEST_PTX) {
    const std::string text = read(folder + "/" + name + ".ptx");
    ASSERT_FALSE(text.empty()) << name;
    if (!from_machine_code()) {
      load_text(text);
      return;
    }
    const char* cubins = folder == VGPU_TEST_PTX_90A ? VGPU_TEST_CUBIN_90A : VGPU_TEST_CUBIN;
    if (const char* const others = std::getenv("VGPU_TEST_CUBINS"); others != nullptr)
      cubins = others;
    const std::string code = read(std::string(cubins) + "/" + name + ".cubin");
    ASSERT_FALSE(code.empty()) << name;
    module = vgpu::sass::from_images(
        std::as_bytes(std::span(code)), [text] { return text; }, memory);
  }
  // For properties of one engine only: the text of its instructions, the other's estimates.
  static bool from_machine_code() {
    const char* const engine = std::getenv("VGPU_TEST_ENGINE");
    return engine != nullptr && std::string(engine) == "sass";
  }
  // Of the machine code.
  static int architecture() {
    const char* const given = std::getenv("VGPU_TEST_ARCHITECTURE");
    return given == nullptr ? 90 : std::atoi(given);
  }
  static const char* named(const char* ptx, const char* machine_code) {
    return from_machine_code() ? machine_code : ptx;
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }
  void load_text(const std::string& ptx) { module = vgpu::Module::from_ptx(ptx, memory); }

  template <class T>
  T* array(std::size_t count, T value = {}) {
    T* const data = static_cast<T*>(memory.allocate(count * sizeof(T)));
    for (std::size_t i = 0; i < count; ++i) data[i] = value;
    return data;
  }
  template <class T>
  T* array(const std::vector<T>& values) {
    T* const data = static_cast<T*>(memory.allocate(values.size() * sizeof(T)));
    std::memcpy(data, values.data(), values.size() * sizeof(T));
    return data;
  }

  template <class... A>
  vgpu::LaunchReport launch(const std::string& kernel, vgpu::Dim3 grid, vgpu::Dim3 block,
                            A... arguments) {
    const vgpu::Kernel* const found = module->find_kernel(kernel);
    if (found == nullptr) throw std::invalid_argument("no kernel " + kernel);
    const vgpu::KernelAttributes& attributes = vgpu::attributes(*found);
    if (attributes.params.size() != sizeof...(A))
      throw std::invalid_argument("another number of parameters");
    std::vector<std::byte> params(attributes.param_bytes);
    std::size_t next = 0;
    [[maybe_unused]] const auto pack = [&](const auto& argument) {
      const vgpu::Param& param = attributes.params[next++];
      if (param.size != sizeof(argument))
        throw std::invalid_argument("a parameter of another size");
      std::memcpy(params.data() + param.offset, &argument, sizeof(argument));
    };
    (pack(arguments), ...);
    config.grid = grid;
    config.block = block;
    return vgpu::launch(*found, config, params, memory);
  }

  // Launches by the engine for which the kernels were loaded, not by the other in its place.
  template <class... A>
  void run(const std::string& kernel, vgpu::Dim3 grid, vgpu::Dim3 block, A... arguments) {
    EXPECT_EQ(launch(kernel, grid, block, arguments...).engine, named("ptx", "sass")) << kernel;
  }

  // The fault that a launch throws; a test failure if it throws none.
  template <class... A>
  vgpu::Fault fault_of(const std::string& kernel, vgpu::Dim3 grid, vgpu::Dim3 block,
                       A... arguments) {
    try {
      launch(kernel, grid, block, arguments...);
    } catch (const vgpu::Fault& fault) {
      return fault;
    }
    ADD_FAILURE() << kernel << " did not fault";
    return vgpu::Fault(vgpu::FaultKind::kTrap, "");
  }

  static void expect_fault(const vgpu::Fault& fault, vgpu::FaultKind kind,
                           std::initializer_list<std::string> parts = {}) {
    EXPECT_EQ(fault.kind, kind) << fault.what();
    expect_text(fault, parts);
  }

  // A kernel that waits correctly for its copies gives the same result under each.
  void for_each_schedule(const std::function<void()>& test) {
    using vgpu::CopySchedule;
    std::vector<CopySchedule> all = {{CopySchedule::Kind::kEager, 0},
                                     {CopySchedule::Kind::kLazy, 0}};
    for (std::uint64_t seed = 0; seed < 6; ++seed)
      all.push_back({CopySchedule::Kind::kRandom, seed});
    for (const CopySchedule& schedule : all) {
      SCOPED_TRACE("schedule " + std::to_string(static_cast<int>(schedule.kind)) + ", seed " +
                   std::to_string(schedule.seed));
      config.schedule = schedule;
      test();
    }
  }

  vgpu::Memory memory{std::size_t{1} << 30};
  std::unique_ptr<vgpu::Module> module;
  vgpu::LaunchConfig config;
};
