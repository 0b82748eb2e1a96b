// SPDX-License-Identifier: Apache-2.0
#include "rand/toolkit.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace vgpu::rand {
namespace {

constexpr const char* kName = "libcurand.so.10";

// The folders in which the loader looks for what this file asks for.
void add_folders_of(link_map* file, std::vector<std::string>& folders) {
  Dl_serinfo size{};
  if (::dlinfo(file, RTLD_DI_SERINFOSIZE, &size) != 0) return;
  std::vector<std::max_align_t> room(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* const paths = reinterpret_cast<Dl_serinfo*>(room.data());
  *paths = size;
  if (::dlinfo(file, RTLD_DI_SERINFO, paths) != 0) return;
  for (unsigned i = 0; i < paths->dls_cnt; ++i)
    folders.emplace_back(paths->dls_serpath[i].dls_name);
}

// The search folders of all loaded files, since one of them has loaded this library; then the
// toolkit's.
std::vector<std::string> folders() {
  link_map* program = nullptr;
  ::dlinfo(::dlopen(nullptr, RTLD_LAZY), RTLD_DI_LINKMAP, &program);
  std::vector<std::string> found;
  const auto visit_all = [&] {
    for (link_map* file = program; file != nullptr; file = file->l_next)
      add_folders_of(file, found);
  };
  // One call of the function suffices. While it runs, no file is loaded or closed.
  ::dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void* visit) {
        (*static_cast<decltype(visit_all)*>(visit))();
        return 1;
      },
      const_cast<void*>(static_cast<const void*>(&visit_all)));
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const root = std::getenv(variable); root != nullptr)
      found.push_back(std::string(root) + "/lib64");
  }
  found.emplace_back("/usr/local/cuda/lib64");
  found.emplace_back("/opt/cuda/lib64");
  return found;
}

void* open_library() {
  static const int in_this_library = 0;
  Dl_info info{};
  struct stat ours {};
  if (::dladdr(&in_this_library, &info) == 0 || ::stat(info.dli_fname, &ours) != 0) return nullptr;
  for (const std::string& folder : folders()) {
    const std::string path = folder + "/" + kName;
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0 ||
        (file.st_dev == ours.st_dev && file.st_ino == ours.st_ino))
      continue;
    if (void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL); library != nullptr)
      return library;
  }
  say(std::string("cuRAND: the CUDA toolkit's ") + kName +
      ", whose host generators make the numbers, is not found: add its folder to LD_LIBRARY_PATH");
  return nullptr;
}

}  // namespace

void* toolkit_function(const char* name) {
  static void* const library = open_library();
  if (library == nullptr) return nullptr;
  void* const function = ::dlsym(library, name);
  if (function == nullptr) say(std::string(name) + ": the toolkit's cuRAND does not have it");
  return function;
}

}  // namespace vgpu::rand
