// SPDX-License-Identifier: Apache-2.0
// Linking at run time. CUDA Driver API, "Module Management". PTX is linked as text, so that what
// cuLinkComplete gives is PTX, too; machine code passes through alone.
#include <elf.h>

#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "driver/jit_log.hpp"
#include "ptx/parse/ast.hpp"
#include "ptx/parse/linker.hpp"

using namespace vgpu::driver;
namespace image = vgpu::image;

namespace {

struct Link {
  JitLog log;
  std::vector<vgpu::ptx::PtxUnit> units;
  std::string code;  // machine code, the only input; or the result
  bool is_complete = false;
  cudaError_t failed = cudaSuccess;  // the error of an input after which the link cannot go on
};

std::map<CUlinkState, std::unique_ptr<Link>>& links() {
  static auto* const all = new std::map<CUlinkState, std::unique_ptr<Link>>;
  return *all;
}

Link& known_link(CUlinkState state) {
  const auto found = links().find(state);
  if (found == links().end()) refuse(cudaErrorInvalidResourceHandle);
  return *found->second;
}

[[noreturn]] void refuse_input(std::string_view why, cudaError_t error) {
  refuse(error, fmt::format("{}: {}", vgpu::runtime::driver_call(), why));
}

[[noreturn]] void refuse_mixture() {
  refuse_input("machine code cannot be linked with other code: give PTX", cudaErrorNotSupported);
}

// By the type of the ELF file. Throws Failure if the code is not ELF.
bool is_relocatable(const std::string& code) {
  Elf64_Ehdr header{};
  if (code.size() < sizeof header || !code.starts_with(ELFMAG))
    refuse_input("the input is not machine code (ELF)", cudaErrorInvalidKernelImage);
  std::memcpy(&header, code.data(), sizeof header);
  return header.e_type == ET_REL;
}

// Only relocatable machine code can be linked, and only as the single input.
void add_code(Link& link, std::string code) {
  if (!is_relocatable(code)) {
    link.failed = cudaErrorNoKernelImageForDevice;
    refuse_input("the machine code is not relocatable", link.failed);
  }
  if (!link.units.empty() || !link.code.empty()) refuse_mixture();
  link.code = std::move(code);
}

void add_ptx(Link& link, std::string text, const std::string& name) {
  if (!link.code.empty()) refuse_mixture();
  if (text.find(".version") == text.npos)
    refuse_input("text without '.version' is not PTX", cudaErrorInvalidKernelImage);
  text.resize(std::min(text.find('\0'), text.size()));
  vgpu::ptx::parse(text);  // refuses what is not PTX
  link.units.push_back({name, std::move(text)});
  try {
    vgpu::ptx::link_ptx(link.units);
  } catch (const vgpu::ptx::DefinedTwice&) {
    link.failed = cudaErrorInvalidSource;
    throw;
  }
}

void add_fat_binary(const Runtime& runtime, Link& link, std::span<const std::byte> bytes,
                    const std::string& name) {
  const auto entries = image::read_entries(bytes);
  const auto target = static_cast<std::uint32_t>(runtime.device().target());
  if (const auto* ptx = image::choose_ptx(entries, target); ptx != nullptr) {
    add_ptx(link, image::ptx_text(*ptx), name);
  } else if (const auto* cubin = image::choose_cubin(entries, target); cubin != nullptr) {
    add_code(link, image::contents(*cubin));
  } else {
    refuse(cudaErrorNoKernelImageForDevice,
           fmt::format("{}: no code for {} in {}", vgpu::runtime::driver_call(),
                       runtime.device().id, name));
  }
}

void add(const Runtime& runtime, Link& link, CUjitInputType type, const void* data,
         std::size_t bytes, const char* given_name) {
  const std::string name =
      given_name != nullptr ? given_name : fmt::format("input {}", link.units.size() + 1);
  if (data == nullptr || bytes == 0 || link.is_complete) refuse();
  std::string code(static_cast<const char*>(data), bytes);
  switch (type) {
    case CU_JIT_INPUT_PTX: return add_ptx(link, std::move(code), name);
    case CU_JIT_INPUT_CUBIN: return add_code(link, std::move(code));
    case CU_JIT_INPUT_FATBINARY:
      return add_fat_binary(runtime, link, std::as_bytes(std::span(code)), name);
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
      refuse(cudaErrorNotSupported,
             fmt::format("{}: objects and libraries cannot be linked ({}): give PTX",
                         vgpu::runtime::driver_call(), name));
    default: refuse();
  }
}

// Runs body(runtime, link) and stores the message of a failure in the link's log.
template <class Body>
CUresult about(const char* name, CUlinkState state, Body body) {
  return in_context(name, [&](Runtime& runtime) {
    Link& link = known_link(state);
    try {
      try {
        body(runtime, link);
      } catch (const image::Damaged& error) {
        refuse(cudaErrorInvalidKernelImage, fmt::format("{}: {}", name, error.what()));
      } catch (const vgpu::ptx::DefinedTwice& error) {
        refuse(cudaErrorInvalidSource, fmt::format("{}: {}", name, error.what()));
      } catch (const std::invalid_argument& error) {
        refuse(cudaErrorInvalidPtx, fmt::format("{}: {}", name, error.what()));
      }
    } catch (const Failure& failure) {
      if (!failure.message.empty()) link.log.store_error(failure.message);
      throw;
    }
  });
}

}  // namespace

VGPU_IN_CONTEXT(cuLinkCreate_v2, unsigned count, CUjit_option* options, void** values,
                CUlinkState* state) {
  auto link = std::make_unique<Link>(Link{JitLog(count, options, values), {}, {}});
  if (state == nullptr || link->log.error() != CUDA_SUCCESS) refuse();
  link->log.store_error("");
  *state = reinterpret_cast<CUlinkState>(link.get());
  links()[*state] = std::move(link);
}
VGPU_BY(cuLinkCreate, 4, cuLinkCreate_v2(a0, a1, a2, a3));

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t bytes,
                          const char* name, unsigned, CUjit_option*, void**) {
  return about(__func__, state, [&](const Runtime& runtime, Link& link) {
    add(runtime, link, type, data, bytes, name);
  });
}
VGPU_BY(cuLinkAddData, 8, cuLinkAddData_v2(a0, a1, a2, a3, a4, a5, a6, a7));

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned,
                          CUjit_option*, void**) {
  return about(__func__, state, [&](const Runtime& runtime, Link& link) {
    if (path == nullptr) refuse();
    std::string file;
    if (vgpu::read_file(path, file) != 0) refuse(cudaErrorFileNotFound);
    add(runtime, link, type, file.data(), file.size(), path);
  });
}
VGPU_BY(cuLinkAddFile, 6, cuLinkAddFile_v2(a0, a1, a2, a3, a4, a5));

// The result belongs to the link, and is followed by a zero byte.
CUresult cuLinkComplete(CUlinkState state, void** code, size_t* bytes) {
  return about(__func__, state, [&](Runtime&, Link& link) {
    if (code == nullptr) refuse();
    if (link.failed != cudaSuccess) refuse(link.failed);
    if (link.is_complete) refuse(cudaErrorInvalidResourceHandle);
    if (link.code.empty()) link.code = vgpu::ptx::link_ptx(link.units);
    link.units.clear();
    link.is_complete = true;
    *code = link.code.data();
    if (bytes != nullptr) *bytes = link.code.size();
  });
}

VGPU_IN_CONTEXT(cuLinkDestroy, CUlinkState state) {
  if (links().erase(state) == 0) refuse(cudaErrorInvalidResourceHandle);
}
