// SPDX-License-Identifier: Apache-2.0
// Compiles a user's .cu file: to machine code, or to a library with one kernel, which the program
// then uses like a rung. In the second case the file holds either a rung (namespace ladder::NAME
// with kInfo) or a plain kernel, of float matrices that are row-major and tight, for which a
// launcher is generated.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/status.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tune/compile.hpp"

namespace ladder::analyse {

struct UserKernel {
  std::filesystem::path file;
  // For a plain kernel: C++ expressions in M, N and K; ceil_div is available. If `kernel` is empty,
  // the file is a rung, or has one kernel.
  std::string kernel;        // for example "sgemm" or "sgemm<32>"
  std::string grid, block;   // dim3 arguments, for example "ceil_div(N, 32), ceil_div(M, 32)"
  std::string shared = "0";  // dynamic shared memory in bytes
  // Follows BLAS conventions: reads neither C if beta = 0, nor A and B if alpha = 0.
  bool strict = false;
  std::string needs = "true";  // supported sizes, for example "M % 128 == 0 && K % 8 == 0"
  // What it is called with: expressions in M, N, K (int), alpha, beta (float), A, B and C (float*).
  // Without alpha, or without beta, it takes alpha = 1, or beta = 0.
  std::string arguments = "M, N, K, alpha, A, B, beta, C";

  bool is_plain() const { return !grid.empty() || !kernel.empty(); }
  bool takes(std::string_view name) const;  // whether the arguments contain it
};

struct Build : tune::Resources {
  std::filesystem::path library;
};

// Compiles into `folder` for compute capability `cc`, including PTX for the virtual GPU. `checkout`
// is the folder that contains include/ and src/. Errors (kInvalidArgument): no such file, no rung
// in it, nvcc not found, or nvcc's first error.
Result<Build> build(const UserKernel& kernel, int cc, const std::filesystem::path& folder,
                    const std::filesystem::path& checkout, tune::Deadline deadline,
                    const tune::Stop& stop);

// Compiles any CUDA file to the machine code of compute capability `cc`, with source lines: a cubin
// in `folder`. Errors as those of build().
Result<std::filesystem::path> build_code(const std::filesystem::path& file, int cc,
                                         const std::filesystem::path& folder,
                                         const std::filesystem::path& checkout,
                                         tune::Deadline deadline, const tune::Stop& stop);

// The name of the rung defined in the file's text; "" if there is none.
std::string rung_in(const std::string& text);

// The names of the __global__ functions in the file's text, without those that a macro makes.
std::vector<std::string> kernel_names_in(std::string text);

// A loaded user library. Its kernels are valid while it is loaded. Errors of open(): kIo (not such
// a library), kInvalidArgument (no kernel in it).
class UserLibrary {
 public:
  static Result<UserLibrary> open(const std::string& path);
  std::vector<const KernelInfo*> kernels() const;

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle_;
  const KernelInfo* first_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace ladder::analyse
