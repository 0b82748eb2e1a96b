// SPDX-License-Identifier: Apache-2.0
// Memory apart from its addresses. CUDA Driver API, "Virtual Memory Management". Physical memory is
// a file in memory (memfd_create), which is mapped at reserved addresses, at several of them if the
// program wants, and is given to other processes as a file descriptor.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "driver/api.hpp"
#include "runtime/stream_order.hpp"

using namespace vgpu::driver;
using vgpu::runtime::Origin;

namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;

// The memory of one handle. It exists while the handle or a mapping does.
struct Physical {
  int file = -1;
  std::size_t bytes = 0;
  CUmemAllocationProp properties{};

  Physical() = default;
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;
  ~Physical() {
    if (file < 0) return;
    ::close(file);
    Runtime::get().pointers.uncount(properties.location.id, bytes);
  }
};

struct Handle {
  std::shared_ptr<Physical> memory;
  unsigned references = 1;
};

struct Mapping {
  std::size_t bytes;
  std::shared_ptr<Physical> memory;
  CUmemAccess_flags access;
};

// Reserved addresses. The engine knows their accessible parts as few, large ranges, since the
// program may use neighbouring mappings as one.
struct Range {
  std::size_t bytes = 0;
  std::map<CUdeviceptr, Mapping> mappings;
  std::vector<CUdeviceptr> accessible;
};

struct State {
  std::map<CUmemGenericAllocationHandle, Handle> handles;
  std::map<CUdeviceptr, Range> ranges;
};

State& state() {
  static auto* const all = new State;
  return *all;
}

bool is_whole(std::size_t bytes) { return bytes != 0 && bytes % kGranularity == 0; }

// The reserved range that holds [address, address + bytes); throws Failure if none does.
Range& known_range(CUdeviceptr address, std::size_t bytes) {
  auto next = state().ranges.upper_bound(address);
  if (next != state().ranges.begin()) {
    auto& [begin, range] = *std::prev(next);
    const std::size_t offset = address - begin;
    if (offset < range.bytes && bytes <= range.bytes - offset) return range;
  }
  refuse();
}

Handle& known_handle(CUmemGenericAllocationHandle handle) {
  const auto found = state().handles.find(handle);
  if (found == state().handles.end()) refuse();
  return found->second;
}

// The mapping that holds the address; throws Failure if none does.
const Mapping& known_mapping(CUdeviceptr address) {
  const Range& range = known_range(address, 1);
  const auto next = range.mappings.upper_bound(address);
  if (next == range.mappings.begin()) refuse();
  const auto& [begin, mapping] = *std::prev(next);
  if (address - begin >= mapping.bytes) refuse();
  return mapping;
}

// The mappings that make up exactly [address, address + bytes); throws Failure if they do not.
std::vector<CUdeviceptr> whole_mappings(const Range& range, CUdeviceptr address,
                                        std::size_t bytes) {
  std::vector<CUdeviceptr> found;
  CUdeviceptr at = address;
  while (at < address + bytes) {
    const auto mapping = range.mappings.find(at);
    if (mapping == range.mappings.end()) refuse();
    found.push_back(at);
    at += mapping->second.bytes;
  }
  if (at != address + bytes) refuse();
  return found;
}

// Tells the engine what is accessible now.
void refresh(Runtime& runtime, Range& range) {
  for (const CUdeviceptr begin : range.accessible) {
    runtime.memory.disown(pointer_of(begin));
    runtime.pointers.remove(pointer_of(begin));
  }
  range.accessible.clear();
  for (auto next = range.mappings.begin(); next != range.mappings.end();) {
    const auto [begin, first] = *next;
    CUdeviceptr end = begin;
    for (; next != range.mappings.end() && next->first == end &&
           next->second.access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
         ++next)
      end += next->second.bytes;
    if (end == begin) {
      ++next;
      continue;
    }
    runtime.memory.adopt(pointer_of(begin), end - begin, "mapped memory");
    runtime.pointers.add(pointer_of(begin), end - begin, Origin::kMapped,
                         first.memory->properties.location.id);
    range.accessible.push_back(begin);
  }
}

void map_nothing(CUdeviceptr address, std::size_t bytes) {
  ::mmap(pointer_of(address), bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

// Addresses at a multiple of `alignment`, near `hint` if it is free.
void* reserve(std::size_t bytes, std::size_t alignment, CUdeviceptr hint) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (hint != 0 && hint % alignment == 0) {
    void* const exact =
        ::mmap(pointer_of(hint), bytes, PROT_NONE, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
    if (exact == pointer_of(hint)) return exact;
    if (exact != MAP_FAILED) ::munmap(exact, bytes);
  }
  std::size_t more = 0;
  if (__builtin_add_overflow(bytes, alignment, &more)) return nullptr;
  void* const wide = ::mmap(nullptr, more, PROT_NONE, kFlags, -1, 0);
  if (wide == MAP_FAILED) return nullptr;
  const CUdeviceptr begin = (address_of(wide) + alignment - 1) / alignment * alignment;
  if (begin != address_of(wide)) ::munmap(wide, begin - address_of(wide));
  if (const std::size_t rest = address_of(wide) + more - (begin + bytes); rest != 0)
    ::munmap(pointer_of(begin + bytes), rest);
  return pointer_of(begin);
}

void check(const Runtime& runtime, const CUmemAllocationProp* wanted) {
  if (wanted == nullptr || wanted->type != CU_MEM_ALLOCATION_TYPE_PINNED) refuse();
  const auto handles = wanted->requestedHandleTypes;
  if (wanted->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      (handles != CU_MEM_HANDLE_TYPE_NONE && handles != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)) {
    refuse(cudaErrorNotSupported,
           "cudaMemCreate: only memory of a device is implemented, for this process or as a "
           "file descriptor");
  }
  runtime.known_device(wanted->location.id);
}

CUmemGenericAllocationHandle add(std::shared_ptr<Physical> memory) {
  static CUmemGenericAllocationHandle next = 1;
  state().handles[next] = {std::move(memory)};
  return next++;
}

}  // namespace

VGPU_IN_DRIVER(cuMemGetAllocationGranularity, size_t* granularity,
               const CUmemAllocationProp* wanted, CUmemAllocationGranularity_flags option) {
  if (granularity == nullptr || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                                 option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
    refuse();
  check(runtime, wanted);
  *granularity = kGranularity;
}

VGPU_IN_DRIVER(cuMemAddressReserve, CUdeviceptr* address, size_t bytes, size_t alignment,
               CUdeviceptr hint, unsigned long long flags) {
  if (address == nullptr || !is_whole(bytes) || (alignment & (alignment - 1)) != 0 || flags != 0)
    refuse();
  void* const begin = reserve(bytes, std::max(alignment, kGranularity), hint);
  if (begin == nullptr) refuse(cudaErrorMemoryAllocation);
  state().ranges[address_of(begin)].bytes = bytes;
  *address = address_of(begin);
}

VGPU_IN_DRIVER(cuMemAddressFree, CUdeviceptr address, size_t bytes) {
  const auto found = state().ranges.find(address);
  if (found == state().ranges.end() || found->second.bytes != bytes ||
      !found->second.mappings.empty())
    refuse();
  ::munmap(pointer_of(address), bytes);
  state().ranges.erase(found);
}

VGPU_IN_DRIVER(cuMemCreate, CUmemGenericAllocationHandle* handle, size_t bytes,
               const CUmemAllocationProp* wanted, unsigned long long flags) {
  if (handle == nullptr || !is_whole(bytes) || flags != 0) refuse();
  check(runtime, wanted);
  const int device = wanted->location.id;
  const std::size_t all = runtime.settings.devices[static_cast<std::size_t>(device)].memory_bytes;
  if (bytes > all - std::min(all, runtime.pointers.bytes_on(device)) ||
      bytes > runtime.memory.room().bytes)
    refuse(out_of_memory(runtime));
  auto memory = std::make_shared<Physical>();
  memory->properties = *wanted;
  memory->bytes = bytes;
  const int file = ::memfd_create("vgpu", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    if (file >= 0) ::close(file);
    refuse(cudaErrorMemoryAllocation);
  }
  memory->file = file;
  runtime.pointers.count(device, bytes);
  *handle = add(std::move(memory));
}

VGPU_IN_DRIVER(cuMemRelease, CUmemGenericAllocationHandle handle) {
  if (--known_handle(handle).references == 0) state().handles.erase(handle);
}

VGPU_IN_DRIVER(cuMemMap, CUdeviceptr address, size_t bytes, size_t offset,
               CUmemGenericAllocationHandle handle, unsigned long long flags) {
  const auto& memory = known_handle(handle).memory;
  Range& range = known_range(address, bytes);
  if (bytes == 0 || address % kGranularity != 0 || flags != 0) refuse();
  if (offset != 0 || bytes != memory->bytes) refuse(cudaErrorNotSupported);  // as documented
  const auto next = range.mappings.lower_bound(address);
  if (next != range.mappings.end() && next->first < address + bytes) refuse();
  if (next != range.mappings.begin()) {
    const auto& [begin, former] = *std::prev(next);
    if (begin + former.bytes > address) refuse();
  }
  if (::mmap(pointer_of(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->file, 0) ==
      MAP_FAILED)
    refuse(cudaErrorMemoryAllocation);
  range.mappings.emplace(address, Mapping{bytes, memory, CU_MEM_ACCESS_FLAGS_PROT_NONE});
}

VGPU_IN_DRIVER(cuMemUnmap, CUdeviceptr address, size_t bytes) {
  Range& range = known_range(address, bytes);
  if (bytes == 0) refuse();
  const auto mappings = whole_mappings(range, address, bytes);
  vgpu::runtime::await(runtime, vgpu::runtime::all_tasks(runtime));
  for (const CUdeviceptr mapping : mappings) range.mappings.erase(mapping);
  refresh(runtime, range);
  map_nothing(address, bytes);
}

// Access is not told apart by device, nor reading from writing.
VGPU_IN_DRIVER(cuMemSetAccess, CUdeviceptr address, size_t bytes, const CUmemAccessDesc* list,
               size_t count) {
  Range& range = known_range(address, bytes);
  if (bytes == 0 || list == nullptr || count == 0) refuse();
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
        !runtime.has_device(list[i].location.id))
      refuse(cudaErrorInvalidDevice);
    access = std::max(access, list[i].flags);
  }
  for (const CUdeviceptr mapping : whole_mappings(range, address, bytes))
    range.mappings.at(mapping).access = access;
  const int protection =
      access == CU_MEM_ACCESS_FLAGS_PROT_NONE ? PROT_NONE : PROT_READ | PROT_WRITE;
  if (::mprotect(pointer_of(address), bytes, protection) != 0) refuse(cudaErrorMemoryAllocation);
  refresh(runtime, range);
}

VGPU_IN_DRIVER(cuMemGetAccess, unsigned long long* flags, const CUmemLocation* location,
               CUdeviceptr address) {
  if (flags == nullptr || location == nullptr) refuse();
  *flags = known_mapping(address).access;
}

VGPU_IN_DRIVER(cuMemGetAllocationPropertiesFromHandle, CUmemAllocationProp* properties,
               CUmemGenericAllocationHandle handle) {
  const auto& memory = known_handle(handle).memory;
  store(properties, memory->properties);
}

VGPU_IN_DRIVER(cuMemRetainAllocationHandle, CUmemGenericAllocationHandle* handle, void* pointer) {
  if (handle == nullptr) refuse();
  const Mapping& mapping = known_mapping(address_of(pointer));
  for (auto& [number, known] : state().handles) {
    if (known.memory != mapping.memory) continue;
    ++known.references;
    *handle = number;
    return;
  }
  *handle = add(mapping.memory);
}

VGPU_IN_DRIVER(cuMemExportToShareableHandle, void* shared, CUmemGenericAllocationHandle handle,
               CUmemAllocationHandleType type, unsigned long long flags) {
  const auto& memory = known_handle(handle).memory;
  if (shared == nullptr || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      memory->properties.requestedHandleTypes != type)
    refuse();
  const int file = ::dup(memory->file);
  if (file < 0) refuse(cudaErrorOperatingSystem);
  *static_cast<int*>(shared) = file;
}

VGPU_IN_DRIVER(cuMemImportFromShareableHandle, CUmemGenericAllocationHandle* handle, void* shared,
               CUmemAllocationHandleType type) {
  if (handle == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) refuse();
  const int file =
      ::fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(shared)), F_DUPFD_CLOEXEC, 0);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0 ||
      !is_whole(static_cast<std::size_t>(status.st_size))) {
    if (file >= 0) ::close(file);
    refuse();
  }
  auto memory = std::make_shared<Physical>();
  memory->bytes = static_cast<std::size_t>(status.st_size);
  memory->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory->properties.requestedHandleTypes = type;
  memory->properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, Runtime::ordinal()};
  memory->file = file;
  runtime.pointers.count(Runtime::ordinal(), memory->bytes);
  *handle = add(std::move(memory));
}
