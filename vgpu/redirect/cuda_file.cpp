// SPDX-License-Identifier: Apache-2.0
#include "redirect/cuda_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace vgpu {
namespace {

constexpr RuntimeName kNames[] = {
#define VGPU_STUB(name) {#name, #name},
#include "runtime_names.inc"
#undef VGPU_STUB
#define VGPU_OF_12(name, target) {#name, #target},
#define VGPU_MOVED(name, target) {#name, #target},
#define VGPU_MISSING_OF_12(name) {#name, nullptr},
#include "redirect/names12.inc"
#undef VGPU_MISSING_OF_12
#undef VGPU_MOVED
#undef VGPU_OF_12
};
constexpr std::size_t kCount13 = 0
#define VGPU_STUB(name) +1
#include "runtime_names.inc"
#undef VGPU_STUB
    ;
constexpr std::span<const RuntimeName> kAll(kNames);
constexpr auto k13 = kAll.first(kCount13), k12 = kAll.subspan(kCount13);

constexpr bool is_before(const RuntimeName& a, const RuntimeName& b) {
  return std::string_view(a.name) < b.name;
}
static_assert(std::ranges::is_sorted(k13, is_before) && std::ranges::is_sorted(k12, is_before),
              "names are looked up by binary search");

// Functions that one version of the runtime has and the others have not.
constexpr std::string_view kOnlyIn13 = "cudaMemDiscardBatchAsync",
                           kOnlyIn12 = "cudaGetDeviceProperties_v2",
                           kInAll = "__cudaRegisterFatBinary";
constexpr std::string_view kSharedRuntime = "libcudart.so";
constexpr std::string_view kOfToolkit[] = {"libcublas", "libcudnn",    "libcufft",    "libcufile",
                                           "libcurand", "libcusolver", "libcusparse", "libnccl",
                                           "libnpp",    "libnvjpeg",   "libnvrtc"};

// A file's bytes. What lies outside the file reads as zero or as empty text.
class Bytes {
 public:
  explicit Bytes(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      const auto size = static_cast<std::size_t>(status.st_size);
      void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (data != MAP_FAILED) bytes_ = {static_cast<const char*>(data), size};
    }
    ::close(descriptor);
  }
  ~Bytes() {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  template <class T>
  T at(std::uint64_t offset) const {
    T value{};
    if (offset < bytes_.size() && bytes_.size() - offset >= sizeof value)
      std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  // The zero-terminated text at `offset`; "" if the file ends before the zero.
  std::string_view text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const std::string_view rest = bytes_.substr(offset);
    const auto end = rest.find('\0');
    return end == rest.npos ? std::string_view{} : rest.substr(0, end);
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

const RuntimeName* find_name(std::span<const RuntimeName> names, std::string_view name) {
  const auto found = std::lower_bound(
      names.begin(), names.end(), name,
      [](const RuntimeName& a, std::string_view wanted) { return a.name < wanted; });
  return found != names.end() && found->name == name ? &*found : nullptr;
}

class Reader {
 public:
  Reader(const Bytes& bytes, CudaFile& file) : bytes_(bytes), file_(file) {}

  void read() {
    const auto header = bytes_.at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
      return;
    file_.is_elf = true;
    for (unsigned i = 0; i < header.e_phnum; ++i)
      segment(bytes_.at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)));
    const auto section = [&](unsigned i) {
      return bytes_.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    };
    const auto names = section(header.e_shstrndx);
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      const auto part = section(i);
      if (bytes_.text(names.sh_offset + part.sh_name) == ".nv_fatbin") file_.has_device_code = true;
      const auto texts = section(part.sh_link).sh_offset;
      if (part.sh_type == SHT_DYNAMIC) read_dynamic(part, texts);
      if (part.sh_type == SHT_DYNSYM) {
        each_symbol(part, texts, [&](const Elf64_Sym& symbol, std::string_view name) {
          if (symbol.st_shndx == SHN_UNDEF && find_name(k13, name) != nullptr)
            file_.calls_others = true;
        });
      }
      if (part.sh_type == SHT_SYMTAB) read_symbols(part, texts);
    }
    finish();
  }

 private:
  void segment(const Elf64_Phdr& segment) {
    if (segment.p_type == PT_INTERP) file_.interpreter = bytes_.text(segment.p_offset);
    if (segment.p_type == PT_TLS) file_.tls_bytes = segment.p_memsz + segment.p_align;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
      file_.code.push_back(
          {segment.p_vaddr, segment.p_filesz, segment.p_offset, (segment.p_flags & PF_W) != 0});
  }

  void read_dynamic(const Elf64_Shdr& part, std::uint64_t texts) {
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= limit(part); at += sizeof(Elf64_Dyn)) {
      const auto entry = bytes_.at<Elf64_Dyn>(part.sh_offset + at);
      if (entry.d_tag == DT_NULL) break;
      const auto name = bytes_.text(texts + entry.d_un.d_val);
      if (entry.d_tag == DT_NEEDED && name.starts_with(kSharedRuntime)) file_.needed = name;
    }
  }

  // The functions of a runtime that is linked in are visible in the file only. Functions that a
  // file exports are its own, for example those of a library that wraps the runtime.
  void read_symbols(const Elf64_Shdr& part, std::uint64_t texts) {
    file_.has_symbols = true;
    each_symbol(part, texts, [&](const Elf64_Sym& symbol, std::string_view name) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
          symbol.st_value == 0)
        return;
      const auto seen = ELF64_ST_VISIBILITY(symbol.st_other);
      if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && seen != STV_HIDDEN && seen != STV_INTERNAL)
        return;
      is_13_ = is_13_ || name == kOnlyIn13;
      is_12_ = is_12_ || name == kOnlyIn12;
      is_any_ = is_any_ || name == kInAll;
      if (find_name(k13, name) == nullptr && find_name(k12, name) == nullptr) return;
      for (const CodeSegment& code : file_.code) {
        if (symbol.st_value < code.address || symbol.st_value - code.address >= code.size) continue;
        const auto offset = code.offset + (symbol.st_value - code.address);
        found_.push_back(
            {name,
             {0, symbol.st_value, symbol.st_size, bytes_.at<decltype(EntryPoint::head)>(offset)}});
      }
    });
  }

  template <class Visit>
  void each_symbol(const Elf64_Shdr& part, std::uint64_t texts, Visit visit) const {
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= limit(part); at += sizeof(Elf64_Sym)) {
      const auto symbol = bytes_.at<Elf64_Sym>(part.sh_offset + at);
      const auto name = bytes_.text(texts + symbol.st_name);
      if (name.starts_with("cuda") || name.starts_with("__cuda")) visit(symbol, name);
    }
  }

  // The section's size within the file, whatever its header says.
  std::uint64_t limit(const Elf64_Shdr& part) const {
    return part.sh_offset < bytes_.size()
               ? std::min<std::uint64_t>(part.sh_size, bytes_.size() - part.sh_offset)
               : 0;
  }

  void finish() {
    file_.runtime = is_12_    ? StaticRuntime::kCuda12
                    : is_13_  ? StaticRuntime::kCuda13
                    : is_any_ ? StaticRuntime::kOlder
                              : StaticRuntime::kNone;
    if (file_.runtime != StaticRuntime::kCuda13 && file_.runtime != StaticRuntime::kCuda12) return;
    for (auto& [name, entry] : found_) {
      const RuntimeName* row = is_12_ ? find_name(k12, name) : nullptr;
      if (row == nullptr) row = find_name(k13, name);
      if (row == nullptr) continue;
      entry.name = static_cast<unsigned>(row - kAll.data());
      file_.entry_points.push_back(entry);
    }
    std::ranges::sort(file_.entry_points, {}, &EntryPoint::address);
  }

  const Bytes& bytes_;
  CudaFile& file_;
  bool is_13_ = false, is_12_ = false, is_any_ = false;
  std::vector<std::pair<std::string_view, EntryPoint>> found_;
};

}  // namespace

std::span<const RuntimeName> runtime_names() { return kAll; }

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // all of it if there is no slash
}

bool is_of_toolkit(std::string_view path) {
  const std::string_view name = file_name(path);
  return std::ranges::any_of(kOfToolkit,
                             [&](std::string_view known) { return name.starts_with(known); });
}

bool hides_runtime(std::string_view path, const CudaFile& file) {
  const bool compiles = file_name(path).starts_with("libnvrtc");  // it has no runtime
  return !compiles &&
         (file.has_hidden_runtime() || (is_of_toolkit(path) && file.has_hidden_names()));
}

CudaFile read_cuda_file(const std::string& path) {
  CudaFile file;
  Reader(Bytes(path), file).read();
  return file;
}

std::string obstacle(const CudaFile& file) {
  if (file.has_hidden_runtime())
    return "has the CUDA runtime linked in and no symbols that say where: link it without -s (and "
           "do not strip it), or with `nvcc -cudart shared`";
  if (file.runtime == StaticRuntime::kNone) return "";
  if (file.runtime == StaticRuntime::kOlder)
    return "has the runtime of CUDA 11 or older linked in; the virtual GPU stands in for those of "
           "CUDA 12 and 13: rebuild it with one of them";
#if !defined(__x86_64__)
  return "has the CUDA runtime linked in, which is redirected on x86-64 only: link it with `nvcc "
         "-cudart shared`";
#else
  return "";
#endif
}

}  // namespace vgpu
