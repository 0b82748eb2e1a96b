// SPDX-License-Identifier: Apache-2.0
// Truncated or damaged code, from files and from memory that ends with it: errors, and no read
// beyond it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "require.hpp"

static bool loads(const void* code) {
  cudaLibrary_t library;
  if (cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0) != cudaSuccess)
    return false;
  require(cudaLibraryUnload(library));
  return true;
}

// Inaccessible memory follows the bytes.
static bool loads_at_end(const std::string& bytes) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t room = (bytes.size() + page - 1) / page * page;
  void* const at =
      mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(at != MAP_FAILED, "mmap");
  char* const begin = static_cast<char*>(at) + room - bytes.size();
  std::memcpy(begin, bytes.data(), bytes.size());
  mprotect(static_cast<char*>(at) + room, page, PROT_NONE);
  const bool loaded = loads(begin);
  munmap(at, room + page);
  return loaded;
}

static bool loads_from(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  cudaLibrary_t library;
  const bool loaded = cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr,
                                              nullptr, 0) == cudaSuccess;
  if (loaded) require(cudaLibraryUnload(library));
  return loaded;
}

int main(int argc, char** argv) {
  require(argc == 2, "a fat binary");
  std::ifstream in(argv[1], std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  require(whole.size() > 1000, "the fat binary can be read");
  char folder[] = "/tmp/vgpu-libraries-XXXXXX";
  require(mkdtemp(folder) != nullptr, "mkdtemp");
  const std::string path = std::string(folder) + "/library";

  require(loads_at_end(whole) && loads_from(path, whole), "all of it");
  skip_on_hardware();  // whose driver need not notice what follows
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += bytes < 100 ? 1 : whole.size() / 23) {
    require(!loads_at_end(whole.substr(0, bytes)), "a part of it");
    require(!loads_from(path, whole.substr(0, bytes)), "a part of it, from a file");
  }
  for (const std::uint64_t size : {~std::uint64_t{0}, ~std::uint64_t{0} - 15,
                                   std::uint64_t{1} << 62, std::uint64_t{whole.size()}}) {
    std::string crafted = whole;  // its header states more bytes than it has
    std::memcpy(crafted.data() + 8, &size, sizeof size);
    require(!loads_at_end(crafted) && !loads_from(path, crafted), "a size that is not true");
  }
  struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    std::uint64_t data = 0, unused = 0;
  } wrapper;  // a pointer to code, as nvcc registers it
  for (const std::uint64_t data : {std::uint64_t{0}, std::uint64_t{8}, ~std::uint64_t{0} - 7}) {
    wrapper.data = data;
    const std::string bytes(reinterpret_cast<const char*>(&wrapper), sizeof wrapper);
    require(!loads_at_end(bytes) && !loads_from(path, bytes), "a pointer to nothing");
    require(!loads_at_end(bytes.substr(0, 12)), "half a pointer");
  }
  wrapper.data = reinterpret_cast<std::uint64_t>(whole.data());
  require(loads(&wrapper), "a pointer to code");
  require(!loads_from(path, {reinterpret_cast<const char*>(&wrapper), sizeof wrapper}),
          "a pointer in a file");
  require(!loads_at_end(".version 8.0\n.target sm_80\n.address_size 64\n"), "text without an end");
  require(loads_at_end(std::string(".version 8.0\n.target sm_80\n.address_size 64\n") + '\0'),
          "text with an end");
  require(loads_from(path, ".version 8.0\n.target sm_80\n.address_size 64\n"),
          "text in a file needs none");
  require(!loads(reinterpret_cast<const void*>(std::uintptr_t{16})), "no memory at all");
  cudaLibrary_t library;
  require(cudaLibraryLoadFromFile(&library, "/dev/zero", nullptr, nullptr, 0, nullptr, nullptr, 0),
          cudaErrorFileNotFound, "no regular file");
  unlink(path.c_str());
  rmdir(folder);
}
