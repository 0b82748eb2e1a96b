// SPDX-License-Identifier: Apache-2.0
// Which runtime a file has linked in, and how its functions are redirected.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "redirect/cuda_file.hpp"
#include "redirect/patch.hpp"

namespace vgpu {
namespace {

std::string fake(const std::string& kind) {
  return std::string(FIXTURES) + "/fake_" + kind + ".so";
}

TEST(CudaFiles, TheRuntimesVersionIsKnownByItsNames) {
  EXPECT_EQ(read_cuda_file(fake("13")).runtime, StaticRuntime::kCuda13);
  EXPECT_EQ(read_cuda_file(fake("12")).runtime, StaticRuntime::kCuda12);
  EXPECT_EQ(read_cuda_file(fake("11")).runtime, StaticRuntime::kOlder);
}

TEST(CudaFiles, EntryPointsAreTheRuntimesFunctions) {
  const CudaFile file = read_cuda_file(fake("13"));
  ASSERT_EQ(file.entry_points.size(), 3u);
  for (const EntryPoint& entry : file.entry_points) EXPECT_GT(entry.size, 0u);
}

TEST(CudaFiles, FunctionsThatALibraryExportsAreItsOwn) {
  const CudaFile wrapper = read_cuda_file(fake("wrapper"));
  EXPECT_EQ(wrapper.runtime, StaticRuntime::kNone);
  EXPECT_TRUE(wrapper.entry_points.empty());
}

TEST(CudaFiles, ARuntimeElsewhereIsNotAHiddenOne) {
  const CudaFile caller = read_cuda_file(fake("caller"));
  EXPECT_TRUE(caller.has_device_code);
  EXPECT_FALSE(caller.has_symbols);
  EXPECT_FALSE(caller.has_hidden_runtime());
}

TEST(CudaFiles, NvidiasLibrariesHideARuntimeAlsoWithoutDeviceCode) {
  const std::string graph = "/lib/nvidia/libcudnn_graph.so.9";
  CudaFile file;
  file.is_elf = true;
  EXPECT_TRUE(hides_runtime(graph, file));
  EXPECT_FALSE(hides_runtime("/lib/libsomething.so", file));
  EXPECT_FALSE(hides_runtime("/libcudnn/libsomething.so", file));
  file.has_device_code = true;
  EXPECT_TRUE(hides_runtime("libsomething.so", file));
  file.needed = "libcudart.so.13";
  EXPECT_FALSE(hides_runtime(graph, file));
}

TEST(CudaFiles, DamagedFilesAreReadToo) {
  std::ifstream in(fake("13"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::string path = testing::TempDir() + "vgpu_damaged." + std::to_string(getpid());
  const auto read_again = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return read_cuda_file(path);
  };
  EXPECT_FALSE(read_again(whole.substr(0, 63)).is_elf);
  for (std::size_t size = 64; size < whole.size(); size += 211) {
    for (const EntryPoint& entry : read_again(whole.substr(0, size)).entry_points)
      EXPECT_LT(entry.name, runtime_names().size());
  }
  for (std::size_t at = 0; at < whole.size(); at += 67) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    for (const EntryPoint& entry : read_again(damaged).entry_points)
      EXPECT_LT(entry.name, runtime_names().size());
  }
  unlink(path.c_str());
}

#if defined(__x86_64__)
constexpr int kRedirected = 100;
int answer() { return kRedirected; }

// A library that is loaded, and what redirecting it says.
class Loaded {
 public:
  explicit Loaded(const std::string& kind) : path_(fake(kind)) {
    handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) dlinfo(handle_, RTLD_DI_LINKMAP, &map_);
  }
  ~Loaded() {
    if (handle_ != nullptr) dlclose(handle_);
    release(trampolines_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  int call_malloc() const { return reinterpret_cast<int (*)()>(dlsym(handle_, "call_malloc"))(); }
  std::string redirect_all() {
    const auto done =
        redirect(read_cuda_file(path_), map_->l_addr, reinterpret_cast<void (*)()>(&answer));
    if (done.trampolines != nullptr) trampolines_ = done.trampolines;
    return done.error;
  }

 private:
  std::string path_;
  void* handle_ = nullptr;
  link_map* map_ = nullptr;
  void* trampolines_ = nullptr;
};

TEST(Redirecting, AFunctionJumpsWhereItIsTold) {
  Loaded library("13");
  EXPECT_EQ(library.call_malloc(), 2);
  EXPECT_EQ(library.redirect_all(), "");
  EXPECT_EQ(library.call_malloc(), kRedirected);
}

TEST(Redirecting, WhatCannotBeRedirectedIsNamedAndLeftAlone) {
  Loaded brief("short"), twins("twins"), twice("13");
  EXPECT_EQ(brief.redirect_all(), "cudaFree is shorter than a jump");
  EXPECT_EQ(brief.call_malloc(), 2);
  EXPECT_NE(twins.redirect_all().find(" shares its code with cudaMalloc"), std::string::npos);
  EXPECT_EQ(twins.call_malloc(), 2);
  EXPECT_EQ(twice.redirect_all(), "");
  EXPECT_NE(twice.redirect_all().find(" is not loaded as the file has it"), std::string::npos);
  EXPECT_EQ(twice.call_malloc(), kRedirected);
}
#endif

}  // namespace
}  // namespace vgpu
