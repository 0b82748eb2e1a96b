// SPDX-License-Identifier: Apache-2.0
#include "analyse/user_kernel.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "report/files.hpp"
#include "report/temporary.hpp"

namespace ladder::analyse {
namespace {

namespace fs = std::filesystem;
constexpr const char* kFirst = "ladder_user_kernels";
constexpr const char* kCount = "ladder_user_kernel_count";

constexpr const char* kRung = R"(#include "{file}"
extern "C" __attribute__((visibility("default"))) const ladder::KernelInfo* ladder_user_kernels() {{
  return ladder::{rung}::kInfo.data();
}}
extern "C" __attribute__((visibility("default"))) std::size_t ladder_user_kernel_count() {{
  return ladder::{rung}::kInfo.size();
}}
)";

constexpr const char* kPlain = R"cuda(#include <cuda_runtime.h>
#include "problem/accept.hpp"
#include <climits>
template <class A, class B>
__host__ __device__ constexpr long long ceil_div(A a, B b) {{
  return (static_cast<long long>(a) + b - 1) / b;
}}
#ifndef CEIL_DIV
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#endif
#include "{file}"
namespace {{
ladder::Status accepts(const ladder::Problem& p, const ladder::Device& device) {{
  using ladder::Code;
  if (ladder::Status s = ladder::accept_cuda(device, 80); !s) return s;
  if (ladder::Status s = ladder::accept_row_major_nn(p); !s) return s;
  if (p.lda != (p.k > 1 ? p.k : 1) || p.ldb != (p.n > 1 ? p.n : 1) || p.ldc != (p.n > 1 ? p.n : 1))
    return {{Code::kUnsupportedProblem, "the signature has no leading dimensions: takes tight operands only"}};
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.m > INT_MAX || p.n > INT_MAX || p.k > INT_MAX)
    return {{Code::kUnsupportedProblem, "takes sizes from 1 to 2^31 - 1"}};
  if (!{takes_alpha} && p.alpha != 1.0F) return {{Code::kUnsupportedProblem, "takes no alpha"}};
  if (!{takes_beta} && p.beta != 0.0F) return {{Code::kUnsupportedProblem, "takes no beta"}};
  if (!{strict} && (p.alpha == 0.0F || ({takes_beta} && p.beta == 0.0F)))
    return {{Code::kUnsupportedProblem, "a plain kernel multiplies by alpha and beta even where they are 0; see --strict"}};
  const long long M = p.m, N = p.n, K = p.k;
  (void)M, (void)N, (void)K;
#line 1 "--needs"
  if (!({needs})) return {{Code::kUnsupportedProblem, R"why(--needs {needs})why"}};
#line 1 "wrapper.cu"
  return ladder::Status::ok();
}}
ladder::Status launch(const ladder::Problem& p, const ladder::Operands& o, ladder::Stream stream) {{
  const long long M = p.m, N = p.n, K = p.k;
  (void)M, (void)N, (void)K;
#line 1 "--grid"
  const dim3 grid({grid});
#line 1 "--block"
  const dim3 block({block});
#line 1 "--shared"
  const std::size_t shared = {shared};
#line 1 "--kernel"
  const auto chosen = {kernel};
#line 1 "wrapper.cu"
  if (shared > 48 * 1024) {{
    const cudaError_t error =
        cudaFuncSetAttribute(chosen, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
    if (error != cudaSuccess) return {{ladder::Code::kLaunchFailed, cudaGetErrorString(error)}};
  }}
  [&](int M, int N, int K, float alpha, float beta, float* A, float* B, float* C) {{
#line 1 "--args"
    chosen<<<grid, block, shared, stream>>>({arguments});
#line 1 "wrapper.cu"
  }}(static_cast<int>(M), static_cast<int>(N), static_cast<int>(K), p.alpha, p.beta,
    const_cast<float*>(o.a), const_cast<float*>(o.b), o.c);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess)
    return {{ladder::Code::kLaunchFailed, cudaGetErrorString(error)}};
  return ladder::Status::ok();
}}
constexpr ladder::KernelInfo kInfo{{.id = "{name}",
                                   .rung = "{name}",
                                   .idea = "a kernel of the user's",
                                   .min_cc = 80,
                                   .accepts = accepts,
                                   .launch = launch}};
}}  // namespace
extern "C" __attribute__((visibility("default"))) const ladder::KernelInfo* ladder_user_kernels() {{ return &kInfo; }}
extern "C" __attribute__((visibility("default"))) std::size_t ladder_user_kernel_count() {{ return 1; }}
)cuda";

// Converts a file name to a kernel id; characters unsuitable for a string literal become '_'.
std::string id_of(const fs::path& file) {
  std::string id = file.stem().string();
  std::replace_if(
      id.begin(), id.end(), [](char ch) { return !is_plain(std::string(1, ch)); }, '_');
  return id;
}

// `file`: the user's file, under a name that nvcc accepts.
std::string wrapper(const UserKernel& kernel, const std::string& rung, const std::string& file) {
  if (!kernel.is_plain()) return fmt::format(kRung, fmt::arg("file", file), fmt::arg("rung", rung));
  return fmt::format(kPlain, fmt::arg("file", file), fmt::arg("kernel", kernel.kernel),
                     fmt::arg("grid", kernel.grid), fmt::arg("block", kernel.block),
                     fmt::arg("shared", kernel.shared), fmt::arg("needs", kernel.needs),
                     fmt::arg("strict", kernel.strict), fmt::arg("arguments", kernel.arguments),
                     fmt::arg("takes_alpha", kernel.takes("alpha")),
                     fmt::arg("takes_beta", kernel.takes("beta")),
                     fmt::arg("name", id_of(kernel.file)));
}

Status bad(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

bool in_word(char ch) { return std::isalnum(static_cast<unsigned char>(ch)) != 0 || ch == '_'; }

std::size_t behind_parentheses(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return at;
}

// The function that is declared from `at` on: the first word before a parenthesis that is no
// attribute (__launch_bounds__).
std::string function_at(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != ';' && text[at] != '{') {
    if (!in_word(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && in_word(text[at])) ++at;
    const std::string_view word = text.substr(begin, at - begin);
    const std::size_t next = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    if (next == text.size() || text[next] != '(') continue;
    if (!word.starts_with("__")) return std::string(word);
    at = behind_parentheses(text, next);
  }
  return "";
}

// Replaces each comment by spaces.
void blank_comments(std::string& text) {
  for (const auto& [begins, ends] : {std::pair{"//", "\n"}, std::pair{"/*", "*/"}}) {
    for (auto at = text.find(begins); at != std::string::npos; at = text.find(begins, at)) {
      const auto end = std::min(text.find(ends, at + 2), text.size());
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(at),
                text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
      at = end;
    }
  }
}

// The user's kernel with its name, where the file has just one.
Result<UserKernel> named(UserKernel kernel, const std::string& text) {
  const std::string file = kernel.file.string();
  if (!kernel.is_plain()) {
    return bad(file +
               ": holds no rung (namespace ladder::NAME with kInfo); for a plain kernel give "
               "--grid, --block and, where it is not the only one, --kernel");
  }
  if (kernel.grid.empty() || kernel.block.empty())
    return bad(fmt::format(
        "{}: is missing; a plain kernel needs --grid and --block, expressions in M, N and K",
        kernel.grid.empty() ? "--grid" : "--block"));
  if (!kernel.kernel.empty()) return kernel;
  const std::vector<std::string> names = kernel_names_in(text);
  if (names.size() != 1) {
    return bad(names.empty() ? file + ": no kernel (__global__) is in it; --kernel names one"
                             : fmt::format("--kernel: {} has {}", file, fmt::join(names, ", ")));
  }
  kernel.kernel = names.front();
  return kernel;
}

}  // namespace

bool UserKernel::takes(std::string_view name) const {
  for (auto at = arguments.find(name); at != std::string::npos; at = arguments.find(name, at + 1)) {
    const auto end = at + name.size();
    if ((at == 0 || !in_word(arguments[at - 1])) &&
        (end == arguments.size() || !in_word(arguments[end])))
      return true;
  }
  return false;
}

std::vector<std::string> kernel_names_in(std::string text) {
  constexpr std::string_view kMark = "__global__";
  blank_comments(text);
  std::vector<std::string> names;
  for (auto at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
    const std::string name = function_at(text, at + kMark.size());
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string rung_in(const std::string& text) {
  constexpr std::string_view kHead = "namespace ladder::";
  constexpr std::string_view kWordCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  if (text.find("kInfo") == std::string::npos) return "";
  for (auto at = text.find(kHead); at != std::string::npos; at = text.find(kHead, at + 1)) {
    const auto begin = at + kHead.size();
    std::string name = text.substr(begin, text.find_first_not_of(kWordCharacters, begin) - begin);
    if (!name.empty() && (name[0] < '0' || name[0] > '9')) return name;
  }
  return "";
}

namespace {

// nvcc for a user's file. Links give it paths without special characters.
class Nvcc {
 public:
  static Result<Nvcc> open(const fs::path& own, const fs::path& folder, const fs::path& checkout) {
    const std::string nvcc = tune::find_nvcc();
    if (nvcc.empty())
      return bad("nvcc: not found in LADDER_NVCC, PATH, CUDA_HOME or /usr/local/cuda");
    std::error_code error;
    const fs::path links = folder / "links", whole = fs::absolute(own);
    fs::create_directory(links, error);
    const auto file = plain_path(whole, links / "kernel.cu"),
               beside = plain_path(whole.parent_path(), links / "beside"),
               headers = plain_path(fs::absolute(checkout), links / "checkout"),
               bin = plain_path(fs::path(nvcc).parent_path(), links / "bin");
    for (const auto* path : {&file, &beside, &headers, &bin}) {
      if (!*path) return path->status();
    }
    Nvcc made;
    made.own_ = own;
    made.file_ = file.value().string();
    made.command_ = {"env",
                     "TMPDIR=" + folder.string(),
                     (bin.value() / fs::path(nvcc).filename()).string(),
                     "-std=c++20",
                     "-O3",
                     "-DNDEBUG",
                     "-lineinfo",
                     "-diag-suppress=177",
                     "-I" + (headers.value() / "include").string(),
                     "-I" + (headers.value() / "src").string(),
                     "-I" + beside.value().string()};
    return made;
  }

  const std::string& file() const { return file_; }  // the user's, under its plain name

  // Returns nvcc's output.
  Result<std::string> run(const std::vector<std::string>& options, tune::Deadline deadline,
                          const tune::Stop& stop) const {
    std::vector<std::string> command = command_;
    command.insert(command.end(), options.begin(), options.end());
    const auto result = tune::run(command, deadline, stop);
    if (!result) return result.status();
    const tune::Finished& done = result.value();
    if (done.timed_out) return bad(own_.string() + ": not compiled in time");
    if (!done.ended) return bad("interrupted");
    if (done.end.status == 0) return done.output;
    std::string why = tune::first_error(done.output);
    if (const auto at = why.find(file_); at != std::string::npos)
      why.replace(at, file_.size(), fs::absolute(own_).string());
    if (why.starts_with("--kernel(")) why += "; a template needs its arguments, as sgemm<32>";
    return bad(why);
  }

 private:
  fs::path own_;
  std::string file_;
  std::vector<std::string> command_;
};

}  // namespace

Result<Build> build(const UserKernel& given, int cc, const fs::path& folder,
                    const fs::path& checkout, tune::Deadline deadline, const tune::Stop& stop) {
  std::error_code error;
  if (fs::is_directory(given.file, error)) return bad(given.file.string() + ": is a folder");
  if (!fs::is_regular_file(given.file, error)) return bad(given.file.string() + ": no such file");
  const auto text = read_file(given.file.string());
  if (!text) return bad(text.status().message());
  const std::string rung = rung_in(text.value());
  UserKernel kernel = given;
  if (kernel.is_plain() || rung.empty()) {
    auto plain = named(std::move(kernel), text.value());
    if (!plain) return plain.status();
    kernel = std::move(plain).value();
  }
  const auto nvcc = Nvcc::open(kernel.file, folder, checkout);
  if (!nvcc) return nvcc.status();
  const fs::path source = folder / "wrapper.cu", library = folder / "kernel.so";
  if (Status status = write_atomic(source.string(), wrapper(kernel, rung, nvcc.value().file()));
      !status)
    return status;
  const auto output =
      nvcc.value().run({"-Xcompiler=-fPIC,-fvisibility=hidden",
                        fmt::format("-gencode=arch=compute_{0},code=sm_{0}", cc),
                        "-gencode=arch=compute_80,code=compute_80", "-shared", "-cudart=shared",
                        "-Xptxas=-v", "-o", library.string(), source.string()},
                       deadline, stop);
  if (!output) return output.status();
  return Build{tune::resources_in(output.value()), library};
}

Result<fs::path> build_code(const fs::path& file, int cc, const fs::path& folder,
                            const fs::path& checkout, tune::Deadline deadline,
                            const tune::Stop& stop) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return bad(file.string() + ": no such file");
  const auto nvcc = Nvcc::open(file, folder, checkout);
  if (!nvcc) return nvcc.status();
  constexpr int kFirstSpecific = 90;  // from here on, sm_90a has instructions that sm_90 lacks
  fs::path cubin = folder / "kernel.cubin";
  const auto output =
      nvcc.value().run({"-cubin", fmt::format("-arch=sm_{}{}", cc, cc < kFirstSpecific ? "" : "a"),
                        "-o", cubin.string(), nvcc.value().file()},
                       deadline, stop);
  if (!output) return output.status();
  return cubin;
}

void UserLibrary::Close::operator()(void* handle) const { (void)::dlclose(handle); }

Result<UserLibrary> UserLibrary::open(const std::string& path) {
  UserLibrary library;
  library.handle_.reset(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  const char* const why = ::dlerror();
  if (library.handle_ == nullptr) return Status(Code::kIo, why == nullptr ? path : why);
  const auto first =
      reinterpret_cast<const KernelInfo* (*)()>(::dlsym(library.handle_.get(), kFirst));
  const auto count = reinterpret_cast<std::size_t (*)()>(::dlsym(library.handle_.get(), kCount));
  if (first == nullptr || count == nullptr)
    return Status(Code::kIo, fmt::format("{}: no {}", path, kFirst));
  library.first_ = first();
  library.count_ = count();
  if (library.first_ == nullptr || library.count_ == 0)
    return Status(Code::kInvalidArgument, "kInfo: is empty, so there is no kernel to verify");
  return library;
}

std::vector<const KernelInfo*> UserLibrary::kernels() const {
  std::vector<const KernelInfo*> list;
  for (std::size_t i = 0; i < count_; ++i) list.push_back(first_ + i);
  return list;
}

}  // namespace ladder::analyse
