// SPDX-License-Identifier: Apache-2.0
// A user's .cu file becomes a library with one kernel in it, which then takes the path of every
// rung. The file holds either a rung (namespace ladder::NAME with kInfo) or a plain kernel with the
// published ladders' signature, (M, N, K, alpha, A, B, beta, C), for which a launcher is written.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/status.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tune/process.hpp"

namespace ladder::analyse {

struct UserKernel {
  std::filesystem::path file;
  // Of a plain kernel: C++ expressions in M, N and K (ceil_div is there). Empty `kernel`: the file
  // is a rung.
  std::string kernel;        // "sgemm", "sgemm<32>"
  std::string grid, block;   // arguments of dim3: "ceil_div(N, 32), ceil_div(M, 32)"
  std::string shared = "0";  // bytes of dynamic shared memory
  bool strict =
      false;  // keeps BLAS's conventions: beta = 0 does not read C, alpha = 0 neither A nor B
  std::string needs = "true";  // what the kernel takes: "M % 128 == 0 && K % 8 == 0"
};

struct Build {
  std::filesystem::path library;
  int registers = 0, spill_bytes = 0, shared_bytes = 0;
};

// Compiles into `folder` for compute capability `cc`, with PTX for the virtual GPU. `checkout`
// holds include/ and src/. Errors (kInvalidArgument): no such file, no rung in it, nvcc missing or
// its first error.
Result<Build> build(const UserKernel& kernel, int cc, const std::filesystem::path& folder,
                    const std::filesystem::path& checkout, tune::Deadline deadline,
                    const tune::Stop& stop);

// The name of the rung in a file's text, "" if it holds none.
std::string rung_in(const std::string& text);

// What the library holds: valid while it is loaded, at least one kernel. Errors: kIo (not such a
// library), kInvalidArgument (no kernel in it).
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
