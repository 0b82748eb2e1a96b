// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "devices/devices.hpp"

namespace vgpu {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostInt = std::numeric_limits<int>::max();
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 44;

// A key whose value is a number from `least` to `most` and a multiple of `multiple`.
struct Number {
  const char* key;
  std::variant<int Device::*, std::size_t Device::*, std::uint32_t Device::*> member;
  std::int64_t least, most, multiple = 1;
};

constexpr Number kNumbers[] = {
    {"multiprocessors", &Device::multiprocessors, 1, 4096},
    {"clock_khz", &Device::clock_khz, 1, kMostInt},
    {"base_clock_khz", &Device::base_clock_khz, 0, kMostInt},
    {"memory_clock_khz", &Device::memory_clock_khz, 1, kMostInt},
    {"memory_bus_bits", &Device::memory_bus_bits, 1, 65536},
    {"memory_bytes", &Device::memory_bytes, 1 << 20, std::int64_t{kMostBytes}},
    {"l2_bytes", &Device::l2_bytes, 0, kMostInt},
    {"persisting_l2_bytes", &Device::persisting_l2_bytes, 0, kMostInt},
    {"pci_device_id", &Device::pci_device_id, 0, 0xffff'ffff},
    {"pci_subsystem_id", &Device::pci_subsystem_id, 0, 0xffff'ffff},
    {"threads_per_multiprocessor", &Device::threads_per_multiprocessor, 1024, 4096, 32},
    {"blocks_per_multiprocessor", &Device::blocks_per_multiprocessor, 1, 256},
    {"barriers_per_multiprocessor", &Device::barriers_per_multiprocessor, 0, 4096},
    {"registers_per_multiprocessor", &Device::registers_per_multiprocessor, 32768, 1 << 20, 256},
    {"registers_per_block", &Device::registers_per_block, 32768, 1 << 20, 256},
    {"shared_per_multiprocessor", &Device::shared_per_multiprocessor, 48 << 10, 1 << 20, 128},
    {"shared_per_block", &Device::shared_per_block, 48 << 10, 48 << 10},
    {"shared_per_block_optin", &Device::shared_per_block_optin, 48 << 10, 1 << 20, 128},
    {"reserved_shared_per_block", &Device::reserved_shared_per_block, 0, 8 << 10, 128},
    {"double_ratio", &Device::double_ratio, 1, 64},
};

constexpr const char *kId = "id", *kName = "name", *kCapability = "compute_capability",
                     *kDataCentre = "data_centre", *kBase = "base";
constexpr std::size_t kLongestId = 32, kLongestName = 255;

struct Wrong {
  std::string text;
};

// Texts of devices, which are views in the table of known devices.
std::string_view kept(std::string text) {
  static std::set<std::string, std::less<>>& texts = *new std::set<std::string, std::less<>>;
  return *texts.insert(std::move(text)).first;
}

// A value for a message. Arrays and objects are named by their kind only: writing them out recurses
// as deep as they are nested.
std::string shown(const Json& value) {
  return value.is_structured() ? std::string(value.type_name()) : value.dump();
}

std::string rule_of(const Number& number) {
  if (number.least == number.most) return fmt::format("the number {}", number.least);
  const std::string range = fmt::format("a number from {} to {}", number.least, number.most);
  return number.multiple == 1 ? range : fmt::format("{}, a multiple of {}", range, number.multiple);
}

bool is_known(std::string_view id) {
  const auto known = devices();
  return std::ranges::any_of(known, [&](const Device& device) { return device.id == id; });
}

const Number* number_of(const std::string& key) {
  const auto* const found = std::ranges::find(kNumbers, key, &Number::key);
  return found == std::end(kNumbers) ? nullptr : found;
}

void set_number(Device& device, const Number& number, const Json& value) {
  const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= kMostBytes;
  const std::int64_t got = fits ? value.get<std::int64_t>() : -1;
  if (!fits || got < number.least || got > number.most || got % number.multiple != 0)
    throw Wrong{fmt::format("{}: {}: must be {}", number.key, shown(value), rule_of(number))};
  std::visit(
      [&](auto member) {
        using Member = std::remove_reference_t<decltype(device.*member)>;
        device.*member = static_cast<Member>(got);
      },
      number.member);
}

const std::string& text_of(const char* key, const Json& value, std::size_t longest) {
  const auto* const text = value.get_ptr<const std::string*>();
  if (text == nullptr || text->empty() || text->size() > longest)
    throw Wrong{
        fmt::format("{}: {}: must be a text of 1 to {} characters", key, shown(value), longest)};
  return *text;
}

void set_id(Device& device, const Json& value) {
  const std::string& id = text_of(kId, value, kLongestId);
  const bool plain = std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (!plain) throw Wrong{fmt::format("{}: '{}': must be of a-z, 0-9, - and _", kId, id)};
  if (is_known(id))
    throw Wrong{fmt::format("{}: '{}': is the id of a known device; choose another", kId, id)};
  device.id = kept(id);
}

void set_capability(Device& device, const Json& value) {
  constexpr int kLeast = 70, kMost = 129;
  const auto* const text = value.get_ptr<const std::string*>();
  int major = 0, minor = 0;
  bool valid = false;
  if (text != nullptr) {
    const char* const end = text->data() + text->size();
    const auto first = std::from_chars(text->data(), end, major);
    if (first.ec == std::errc() && first.ptr != end && *first.ptr == '.') {
      const auto second = std::from_chars(first.ptr + 1, end, minor);
      valid = second.ec == std::errc() && second.ptr == end && minor >= 0 && minor <= 9;
    }
  }
  const int target = valid && major >= 0 && major < 100 ? major * 10 + minor : 0;
  if (target < kLeast || target > kMost)
    throw Wrong{fmt::format("{}: {}: must be a text \"MAJOR.MINOR\" from \"7.0\" to \"12.9\"",
                            kCapability, shown(value))};
  device.major = major;
  device.minor = minor;
}

void set(Device& device, const std::string& key, const Json& value) {
  if (const Number* number = number_of(key); number != nullptr)
    return set_number(device, *number, value);
  if (key == kId) return set_id(device, value);
  if (key == kName) {
    device.name = kept(text_of(kName, value, kLongestName));
  } else if (key == kCapability) {
    set_capability(device, value);
  } else if (key == kDataCentre) {
    if (!value.is_boolean())
      throw Wrong{fmt::format("{}: {}: must be true or false", kDataCentre, shown(value))};
    device.data_centre = value.get<bool>();
  } else {
    throw Wrong{fmt::format("{}: no such key", key)};
  }
}

// The rules that concern several keys.
void check_sizes(const Device& device) {
  const auto most = [](const char* key, std::size_t value, const char* of, std::size_t limit) {
    if (value > limit)
      throw Wrong{fmt::format("{}: {}: must not exceed {} ({})", key, value, of, limit)};
  };
  most("shared_per_block", device.shared_per_block, "shared_per_block_optin",
       device.shared_per_block_optin);
  most("shared_per_block_optin", device.shared_per_block_optin,
       "shared_per_multiprocessor less reserved_shared_per_block",
       device.shared_per_multiprocessor -
           std::min(device.shared_per_multiprocessor, device.reserved_shared_per_block));
  most("registers_per_block", static_cast<std::size_t>(device.registers_per_block),
       "registers_per_multiprocessor",
       static_cast<std::size_t>(device.registers_per_multiprocessor));
  most("persisting_l2_bytes", device.persisting_l2_bytes, "l2_bytes", device.l2_bytes);
  most("base_clock_khz", static_cast<std::size_t>(device.base_clock_khz), "clock_khz",
       static_cast<std::size_t>(device.clock_khz));
}

Device device_of(const Json& file) {
  if (!file.is_object()) throw Wrong{"must hold one object"};
  Device device{};
  const bool derived = file.contains(kBase);
  if (derived) {
    const auto* const id = file.at(kBase).get_ptr<const std::string*>();
    const Device* const base = id == nullptr ? nullptr : find_device(*id);
    if (base == nullptr)
      throw Wrong{fmt::format("{}: {}: must be a known device: {}", kBase, shown(file.at(kBase)),
                              known_devices())};
    device = *base;
  }
  for (const auto& [key, value] : file.items()) {
    if (key != kBase) set(device, key, value);
  }
  for (const char* key : {kId, kName}) {
    if (!file.contains(key))
      throw Wrong{fmt::format("{}: is missing{}", key, derived ? "; base does not give it" : "")};
  }
  if (!derived) {
    const auto need = [&](const char* key) {
      if (!file.contains(key))
        throw Wrong{
            fmt::format("{}: is missing; all keys are needed where {} is not named", key, kBase)};
    };
    need(kCapability);
    need(kDataCentre);
    for (const Number& number : kNumbers) need(number.key);
  }
  check_sizes(device);
  return device;
}

}  // namespace

bool names_device_file(std::string_view item) {
  return item.ends_with(".json") || item.find('/') != item.npos;
}

std::string read_device(const std::string& path, Device& device) {
  std::string text;
  if (const int error = read_file(path, text); error != 0)
    return fmt::format("cannot read {}: {}", path, std::strerror(error));
  try {
    device = device_of(Json::parse(text));
    describe(device);
  } catch (const Wrong& wrong) {
    return fmt::format("{}: {}", path, wrong.text);
  } catch (const Json::exception& error) {
    return fmt::format("{}: {}", path, no_json(error.what()));
  }
  return "";
}

std::string device_json(const Device& device) {
  Json json;
  json[kId] = std::string(device.id);
  json[kName] = std::string(device.name);
  json[kCapability] = fmt::format("{}.{}", device.major, device.minor);
  json[kDataCentre] = device.data_centre;
  for (const Number& number : kNumbers)
    std::visit([&](auto member) { json[number.key] = device.*member; }, number.member);
  return json.dump(2);
}

int read_file(const std::string& path, std::string& text) {
  text.clear();
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  std::array<char, 1 << 16> block{};
  struct stat status {};
  int error = ::fstat(file, &status) != 0 ? errno : S_ISCHR(status.st_mode) ? ENOTSUP : 0;
  for (ssize_t bytes = 1; bytes != 0 && error == 0;) {
    bytes = ::read(file, block.data(), block.size());
    if (bytes > 0) text.append(block.data(), static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno != EINTR) error = errno;
  }
  ::close(file);
  return error;
}

std::string no_json(const std::string& what) {
  const auto end = what.find("] ");
  return "not JSON: " +
         (what.starts_with("[json.exception") && end != what.npos ? what.substr(end + 2) : what);
}

}  // namespace vgpu
