// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1: what frameworks ask NVML for, answered from the table of devices. The toolkit
// does not contain nvml.h; the declarations are those of NVIDIA's NVML API reference. A virtual
// device has no power, temperature, fan or clock that changes: these functions exist and return
// NVML_ERROR_NOT_SUPPORTED.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/settings.hpp"

namespace {

using Return = int;
constexpr Return kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotSupported = 3,
                 kNotFound = 6, kInsufficientSize = 7, kDriverNotLoaded = 9;

struct Device {};  // the target of nvmlDevice_t: an element of an array, by ordinal
constexpr std::size_t kMostDevices = 64;
Device handles[kMostDevices];

struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2u << 24;
struct Utilization {
  unsigned gpu, memory;
};
struct PciInfo {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};

std::mutex mutex;
unsigned users = 0;  // nvmlInit less nvmlShutdown

// Read once, when the library is first initialised.
const vgpu::Settings& settings() {
  static const vgpu::Settings read =
      vgpu::settings_from([](const char* name) -> const char* { return std::getenv(name); });
  return read;
}

bool is_initialized() {
  const std::scoped_lock lock(mutex);
  return users != 0;
}

Return put(char* text, unsigned length, std::string_view value) {
  if (text == nullptr) return kInvalidArgument;
  if (length <= value.size()) return kInsufficientSize;
  std::memcpy(text, value.data(), value.size());
  text[value.size()] = '\0';
  return kSuccess;
}

template <class T>
Return put(T* out, T value) {
  if (out == nullptr) return kInvalidArgument;
  *out = value;
  return kSuccess;
}

// Runs `body(device, ordinal)` if the library is initialised and the handle is one of a device.
template <class Body>
Return about(const Device* handle, Body body) {
  if (!is_initialized()) return kUninitialized;
  const auto& devices = settings().devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (handle == &handles[i]) return body(devices[i], static_cast<int>(i));
  }
  return kInvalidArgument;
}

// The first device for which `is(device, ordinal)` holds.
template <class Predicate>
Return find(Device** out, Predicate is) {
  if (!is_initialized()) return kUninitialized;
  if (out == nullptr) return kInvalidArgument;
  for (std::size_t i = 0; i < settings().devices.size(); ++i) {
    if (!is(static_cast<int>(i))) continue;
    *out = &handles[i];
    return kSuccess;
  }
  return kNotFound;
}

std::string bus_id(int ordinal) { return "0000" + vgpu::pci_bus_id(ordinal); }

// What the program's own runtime has allocated, where it has one.
unsigned long long used_on(int ordinal) {
  using Used = std::size_t (*)(int);
  void* const runtime = ::dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (runtime == nullptr) return 0;
  const auto used = reinterpret_cast<Used>(::dlsym(runtime, "vgpuMemoryUsed"));
  const unsigned long long bytes = used != nullptr ? used(ordinal) : 0;
  ::dlclose(runtime);
  return bytes;
}

unsigned clock_mhz(const vgpu::Device& device, int kind) {
  constexpr int kMemoryClock = 2, kKhz = 1000;
  return static_cast<unsigned>((kind == kMemoryClock ? device.memory_clock_khz : device.clock_khz) /
                               kKhz);
}

int cores_per_multiprocessor(const vgpu::Device& device) {
  return device.target() < 86 ? 64 : 128;  // CUDA C++ Programming Guide, "Arithmetic Instructions"
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

Return nvmlInitWithFlags(unsigned) {
  if (!settings().error.empty()) return kDriverNotLoaded;
  const std::scoped_lock lock(mutex);
  ++users;
  return kSuccess;
}
Return nvmlInit_v2() { return nvmlInitWithFlags(0); }

Return nvmlShutdown() {
  const std::scoped_lock lock(mutex);
  if (users == 0) return kUninitialized;
  --users;
  return kSuccess;
}

const char* nvmlErrorString(Return code) {
  static constexpr struct {
    Return code;
    const char* text;
  } kTexts[] = {{kSuccess, "Success"},
                {kUninitialized, "Uninitialized"},
                {kInvalidArgument, "Invalid Argument"},
                {kNotSupported, "Not Supported"},
                {kNotFound, "Not Found"},
                {kInsufficientSize, "Insufficient Size"},
                {kDriverNotLoaded, "Driver Not Loaded"}};
  for (const auto& [known, text] : kTexts) {
    if (known == code) return text;
  }
  return "Unknown Error";
}

// The driver that comes with CUDA 13.0.
Return nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return is_initialized() ? put(text, length, "580.65.06") : kUninitialized;
}
Return nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  return is_initialized() ? put(text, length, "13.580.65.06") : kUninitialized;
}
Return nvmlSystemGetCudaDriverVersion_v2(int* version) { return put(version, 13000); }

Return nvmlDeviceGetCount_v2(unsigned* count) {
  return is_initialized() ? put(count, static_cast<unsigned>(settings().devices.size()))
                          : kUninitialized;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** out) {
  const Return found = find(out, [&](int ordinal) { return ordinal == static_cast<int>(index); });
  return found == kNotFound ? kInvalidArgument : found;
}
Return nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device** out) {
  if (id == nullptr) return kInvalidArgument;
  return find(
      out, [&](int ordinal) { return id == vgpu::pci_bus_id(ordinal) || id == bus_id(ordinal); });
}
Return nvmlDeviceGetHandleByUUID(const char* id, Device** out) {
  if (id == nullptr) return kInvalidArgument;
  return find(out, [&](int ordinal) { return id == vgpu::uuid_text(ordinal); });
}

Return nvmlDeviceGetName(const Device* handle, char* text, unsigned length) {
  return about(handle,
               [&](const vgpu::Device& device, int) { return put(text, length, device.name); });
}
Return nvmlDeviceGetUUID(const Device* handle, char* text, unsigned length) {
  return about(handle, [&](const vgpu::Device&, int ordinal) {
    return put(text, length, vgpu::uuid_text(ordinal));
  });
}

// The functions that put one value of a device.
#define VGPU_VALUE(name, type, value)                                                          \
  Return name(const Device* handle, type* out) {                                               \
    return about(handle, [&]([[maybe_unused]] const vgpu::Device& device,                      \
                             [[maybe_unused]] int ordinal) { return put(out, type(value)); }); \
  }
VGPU_VALUE(nvmlDeviceGetIndex, unsigned, ordinal)
VGPU_VALUE(nvmlDeviceGetMemoryBusWidth, unsigned, device.memory_bus_bits)
VGPU_VALUE(nvmlDeviceGetNumGpuCores, unsigned,
           device.multiprocessors* cores_per_multiprocessor(device))
VGPU_VALUE(nvmlDeviceGetUtilizationRates, Utilization, {})  // a kernel runs inside a call
VGPU_VALUE(nvmlDeviceGetComputeMode, int, 0)                // shared
VGPU_VALUE(nvmlDeviceGetPersistenceMode, int, 1)
// No other process is known; the list of processes is not written.
VGPU_VALUE(nvmlDeviceGetComputeRunningProcesses_v3, unsigned, 0)
#undef VGPU_VALUE

Return nvmlDeviceGetPciInfo_v3(const Device* handle, PciInfo* info) {
  return about(handle, [&](const vgpu::Device& device, int ordinal) {
    if (info == nullptr) return kInvalidArgument;
    *info = {};
    info->device = static_cast<unsigned>(vgpu::kFirstPciDevice + ordinal);
    info->device_id = device.pci_device_id;
    info->subsystem_id = device.pci_subsystem_id;
    put(info->legacy_id, sizeof info->legacy_id, vgpu::pci_bus_id(ordinal));
    return put(info->id, sizeof info->id, bus_id(ordinal));
  });
}

Return nvmlDeviceGetMemoryInfo(const Device* handle, Memory* memory) {
  return about(handle, [&](const vgpu::Device& device, int ordinal) {
    const unsigned long long used = used_on(ordinal);
    return put(memory, Memory{device.memory_bytes, device.memory_bytes - used, used});
  });
}
Return nvmlDeviceGetMemoryInfo_v2(const Device* handle, MemoryV2* memory) {
  return about(handle, [&](const vgpu::Device& device, int ordinal) {
    if (memory == nullptr || memory->version != kMemoryV2) return kInvalidArgument;
    const unsigned long long used = used_on(ordinal);
    *memory = {kMemoryV2, device.memory_bytes, 0, device.memory_bytes - used, used};
    return kSuccess;
  });
}

Return nvmlDeviceGetCudaComputeCapability(const Device* handle, int* major, int* minor) {
  return about(handle, [&](const vgpu::Device& device, int) {
    if (major == nullptr || minor == nullptr) return kInvalidArgument;
    *major = device.major;
    *minor = device.minor;
    return kSuccess;
  });
}
Return nvmlDeviceGetClockInfo(const Device* handle, int kind, unsigned* mhz) {
  constexpr int kKinds = 4;
  return about(handle, [&](const vgpu::Device& device, int) {
    if (kind < 0 || kind >= kKinds) return kInvalidArgument;
    return put(mhz, clock_mhz(device, kind));
  });
}
Return nvmlDeviceGetEccMode(const Device* handle, int* current, int* pending) {
  return about(handle, [&](const vgpu::Device& device, int) {
    if (!device.data_centre) return kNotSupported;
    if (current == nullptr || pending == nullptr) return kInvalidArgument;
    *current = *pending = 1;
    return kSuccess;
  });
}
// Every device can read and write every other one's memory.
Return nvmlDeviceGetP2PStatus(const Device* one, const Device* other, int, int* status) {
  return about(one, [&](const vgpu::Device&, int) {
    return about(other, [&](const vgpu::Device&, int) { return put(status, 0); });
  });
}

// Other names of the same functions; most are of older versions.
#define VGPU_SAME(name, function, parameters) \
  Return name parameters __attribute__((alias(#function)));
VGPU_SAME(nvmlInit, nvmlInit_v2, ())
VGPU_SAME(nvmlSystemGetCudaDriverVersion, nvmlSystemGetCudaDriverVersion_v2, (int*))
VGPU_SAME(nvmlDeviceGetCount, nvmlDeviceGetCount_v2, (unsigned*))
VGPU_SAME(nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2, (unsigned, Device**))
VGPU_SAME(nvmlDeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2, (const char*, Device**))
VGPU_SAME(nvmlDeviceGetMinorNumber, nvmlDeviceGetIndex, (const Device*, unsigned*))
VGPU_SAME(nvmlDeviceGetPciInfo_v2, nvmlDeviceGetPciInfo_v3, (const Device*, PciInfo*))
VGPU_SAME(nvmlDeviceGetPciInfo, nvmlDeviceGetPciInfo_v3, (const Device*, PciInfo*))
VGPU_SAME(nvmlDeviceGetMaxClockInfo, nvmlDeviceGetClockInfo, (const Device*, int, unsigned*))
VGPU_SAME(nvmlDeviceGetComputeRunningProcesses_v2, nvmlDeviceGetComputeRunningProcesses_v3,
          (const Device*, unsigned*))
VGPU_SAME(nvmlDeviceGetComputeRunningProcesses, nvmlDeviceGetComputeRunningProcesses_v3,
          (const Device*, unsigned*))
#undef VGPU_SAME

#define VGPU_NOT_SUPPORTED(name)                                                  \
  Return name(const Device* handle) {                                             \
    return about(handle, [](const vgpu::Device&, int) { return kNotSupported; }); \
  }
#include "nvml/not_supported.inc"
#undef VGPU_NOT_SUPPORTED

#pragma GCC visibility pop
}
