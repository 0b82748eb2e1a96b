// SPDX-License-Identifier: Apache-2.0
// libvgpu_redirect.so, which the loader calls for every file that it loads (LD_AUDIT, man 7
// rtld-audit), before any of the file's code runs. Shared CUDA libraries that the virtual GPU
// stands in for are replaced by its own; of a runtime that is linked in, every function is made to
// jump to the function of that name in the virtual GPU's. The loader keeps this library apart from
// the program, with a C library of its own.
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "redirect/patch.hpp"

namespace {

using namespace vgpu;

constexpr std::string_view kDriver = "libcuda.so.1", kDriverForLinking = "libcuda.so";
constexpr std::size_t kMostNames = 1024;
constexpr std::uintptr_t kStandIn = 1;                // no trampolines are there
constexpr int kCannotRun = 126, kNotSupported = 801;  // cudaErrorNotSupported

void say(const std::string& text) {
  std::string line = "vgpu: ";
  for (const char ch : text)  // a file's name may hold anything
    line += static_cast<unsigned char>(ch) < 0x20 || ch == 0x7F ? '?' : ch;
  line += '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

bool is_verbose() { return std::getenv("VGPU_VERBOSE") != nullptr; }

// The folder of this library and of the stand-ins.
const std::string& folder() {
  static const std::string path = [] {
    Dl_info info{};
    ::dladdr(reinterpret_cast<const void*>(&is_verbose), &info);
    const std::string_view file = info.dli_fname != nullptr ? info.dli_fname : "";
    return std::string(file.substr(0, file.size() - file_name(file).size()));
  }();
  return path;
}

// Whether a stand-in of that name exists; if so its path, which stays valid.
const char* stand_in(std::string_view path) {
  static const auto* const paths = [] {
    auto* const found = new std::map<std::string, std::string, std::less<>>;
    for (const char* name : kStandIns) {
      const std::string file = folder() + name;
      if (::access(file.c_str(), R_OK) == 0) found->emplace(name, file);
    }
    return found;
  }();
  std::string_view name = file_name(path);
  if (name == kDriverForLinking) name = kDriver;  // programs load it under both names
  const auto found = paths->find(name);
  return found == paths->end() ? nullptr : found->second.c_str();
}

std::string path_of(const link_map& file) {
  if (*file.l_name != '\0') return file.l_name;
  std::array<char, 4096> path{};  // the program
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

}  // namespace

extern "C" {

// The virtual GPU's functions, in the order of runtime_names(); null until one is called.
__attribute__((visibility("hidden"))) void* vgpu_targets[kMostNames];

static void* set_target(unsigned index, void* function) {
  __atomic_store_n(&vgpu_targets[index], function, __ATOMIC_RELEASE);
  return function;
}

static int not_supported() { return kNotSupported; }

__attribute__((visibility("hidden"))) void* vgpu_find_target(unsigned index) {
  const auto [name, target] = runtime_names()[index];
  if (target == nullptr) {
    say(std::string(name) + " of CUDA 12 is not implemented");
    return set_target(index, reinterpret_cast<void*>(&not_supported));
  }
  void* const library = ::dlmopen(LM_ID_BASE, (folder() + kCore).c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const function = library != nullptr ? ::dlsym(library, target) : nullptr;
  if (function == nullptr) {
    const char* const why = ::dlerror();
    say(std::string(name) + ": " + (why != nullptr ? why : "not found"));
    ::_exit(kCannotRun);
  }
  return set_target(index, function);
}

// Continues in the function with index r11. The arguments' registers must keep their values; the
// runtime's functions receive no floating point.
void vgpu_enter();
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .hidden vgpu_enter
  .globl vgpu_enter
  .type vgpu_enter, @function
vgpu_enter:
  .cfi_startproc
  endbr64
  leaq vgpu_targets(%rip), %r10
  movq (%r10, %r11, 8), %rax
  testq %rax, %rax
  je 1f
  jmp *%rax
1:
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  subq $8, %rsp
  .cfi_def_cfa_offset 64
  movl %r11d, %edi
  call vgpu_find_target
  addq $8, %rsp
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  .cfi_def_cfa_offset 8
  jmp *%rax
  .cfi_endproc
  .size vgpu_enter, . - vgpu_enter
)");
#else
void vgpu_enter() { std::abort(); }  // nothing is redirected: see obstacle()
#endif

unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

// Called before a library is looked for; returns where it is to be looked for. A stand-in gets what
// it asks for, which may be the library that it stands for.
char* la_objsearch(const char* name, std::uintptr_t* cookie, unsigned flag) {
  const char* const ours = flag == LA_SER_ORIG && *cookie != kStandIn ? stand_in(name) : nullptr;
  return const_cast<char*>(ours != nullptr ? ours : name);
}

// Called when a file has been loaded. `cookie` becomes its trampolines, kStandIn or null.
unsigned la_objopen(link_map* loaded, Lmid_t, std::uintptr_t* cookie) {
  const std::string path = path_of(*loaded);
  *cookie = path.starts_with(folder()) ? kStandIn : 0;
  const CudaFile file = read_cuda_file(path);
  if (const std::string why = obstacle(file); !why.empty()) {
    if (!is_of_toolkit(path)) {
      say(path + " " + why);
    } else if (is_verbose()) {
      say(path + ": the toolkit's, not replaced: its calls find no device");
    }
  } else if (file.runtime != StaticRuntime::kNone) {
    const Redirection made = redirect(file, loaded->l_addr, vgpu_enter);
    if (!made.error.empty()) {
      say(path + " has the CUDA runtime linked in, which cannot be redirected: " + made.error +
          "; link it with `nvcc -cudart shared`");
    } else if (is_verbose()) {
      say(path + ": static runtime" +
          (file.runtime == StaticRuntime::kCuda12 ? " of CUDA 12, " : ", ") +
          std::to_string(made.count) + " entry points redirected");
    }
    *cookie = reinterpret_cast<std::uintptr_t>(made.trampolines);
  } else if (is_verbose() && path == folder() + std::string(kDriver)) {
    say("driver API: " + std::string(kDriver) + " is the virtual GPU's");
  } else if (!file.needed.empty() && is_verbose()) {
    say(path + ": shared runtime, " + file.needed +
        (stand_in(file.needed) != nullptr ? " is the virtual GPU's" : " is not replaced"));
  }
  return 0;  // no calls between files are watched
}

unsigned la_objclose(std::uintptr_t* cookie) {
  if (*cookie != kStandIn) release(reinterpret_cast<void*>(*cookie));
  return 0;
}
}
