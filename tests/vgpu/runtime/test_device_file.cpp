// SPDX-License-Identifier: Apache-2.0
// Devices from files: the documented schema and the reader have the same rules.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "devices/devices.hpp"
#include "runtime/settings.hpp"

namespace vgpu {
namespace {

using Json = nlohmann::ordered_json;

class DeviceFile : public testing::Test {
 protected:
  ~DeviceFile() override { std::filesystem::remove(path_); }

  // Returns the error, without the path in front of it.
  std::string read_text(const std::string& text) {
    std::ofstream(path_, std::ios::trunc) << text;
    const std::string error = read_device(path_, device_);
    return error.starts_with(path_ + ": ") ? error.substr(path_.size() + 2) : error;
  }
  std::string read(const Json& json) { return read_text(json.dump()); }

  std::string path_ = testing::TempDir() + "device." + std::to_string(::getpid()) + ".json";
  Device device_{};
};

Json own() {
  Json json = Json::parse(device_json(*find_device("a100")));
  json["id"] = "own";
  return json;
}

TEST_F(DeviceFile, WhatIsWrittenIsReadBack) {
  for (const Device& known : devices()) {
    Json json = Json::parse(device_json(known));
    json["id"] = "own";
    ASSERT_EQ(read(json), "") << known.id;
    device_.id = known.id;
    EXPECT_EQ(device_json(device_), device_json(known));
  }
}

TEST_F(DeviceFile, ABaseGivesTheMissingKeys) {
  ASSERT_EQ(
      read_text(R"({"base": "h100", "id": "h100-pcie", "name": "PCIe", "multiprocessors": 114})"),
      "");
  EXPECT_EQ(device_.multiprocessors, 114);
  EXPECT_EQ(device_.major, 9);
  EXPECT_EQ(device_.name, "PCIe");
  EXPECT_EQ(device_.l2_bytes, find_device("h100")->l2_bytes);
  ASSERT_NE(find_device("h100-pcie"), nullptr);
  EXPECT_EQ(find_device("h100-pcie")->multiprocessors, 114);
  EXPECT_EQ(read_text(R"({"base": "h100", "name": "PCIe"})"),
            "id: is missing; base does not give it");
  EXPECT_EQ(read_text(R"({"base": "h100", "multiprocesors": 3})"), "multiprocesors: no such key");
  EXPECT_EQ(read_text(R"({"base": "abacus", "id": "x", "name": "x"})"),
            "base: \"abacus\": must be a known device: " + known_devices());
}

TEST_F(DeviceFile, WithoutABaseEveryKeyIsNeeded) {
  const Json all = own();
  for (const auto& [key, value] : all.items()) {
    Json json = all;
    json.erase(key);
    EXPECT_EQ(read(json).find(key + ": is missing"), 0u) << key;
  }
}

TEST_F(DeviceFile, HasTheRulesOfItsSchema) {
  std::ifstream in(SOURCE_DIR "/docs/device.schema.json");
  const Json schema = Json::parse(in);
  std::set<std::string> keys = {"base"};
  const Json all = own();
  for (const auto& [key, value] : all.items()) keys.insert(key);
  std::set<std::string> documented;
  for (const auto& [key, rule] : schema.at("properties").items()) {
    documented.insert(key);
    const auto refused = [&, name = key](const Json& value) {
      Json json = own();
      json[name] = value;
      const std::string shown = value.is_array() ? "array" : value.dump();
      EXPECT_EQ(read(json).find(name + ": " + shown + ": must be "), 0u)
          << value << ": " << read(json);
    };
    refused(nullptr);
    refused(Json::array());
    refused(rule.at("type") == "string" ? Json(7) : Json("7"));
    if (rule.at("type") != "integer") continue;
    const auto least = rule.at("minimum").get<std::int64_t>();
    const auto most = rule.at("maximum").get<std::int64_t>();
    refused(least - 1);
    refused(most + 1);
    refused(1.5);
    refused(~std::uint64_t{0});
    if (rule.contains("multipleOf")) refused(least + 1);
    for (const std::int64_t value : {least, most}) {
      Json json = own();
      json[key] = value;
      EXPECT_EQ(read(json).find(key + ": " + std::to_string(value) + ": must be "),
                std::string::npos);
    }
  }
  EXPECT_EQ(documented, keys);
}

TEST_F(DeviceFile, NamesTheKeyAndTheRule) {
  const auto with = [&](const char* key, const Json& value) {
    Json json = own();
    json[key] = value;
    return read(json);
  };
  EXPECT_EQ(with("multiprocessors", 0), "multiprocessors: 0: must be a number from 1 to 4096");
  EXPECT_EQ(
      with("threads_per_multiprocessor", 1500),
      "threads_per_multiprocessor: 1500: must be a number from 1024 to 4096, a multiple of 32");
  EXPECT_EQ(
      with("compute_capability", "13.0"),
      "compute_capability: \"13.0\": must be a text \"MAJOR.MINOR\" from \"7.0\" to \"12.9\"");
  for (const char* odd : {"", "9", "9.", ".9", "9.10", "-9.0", "9.0a", "99999999999.0"})
    EXPECT_EQ(with("compute_capability", odd).find("compute_capability: "), 0u) << odd;
  EXPECT_EQ(with("id", "h200"), "id: 'h200': is the id of a known device; choose another");
  EXPECT_EQ(with("id", "A B"), "id: 'A B': must be of a-z, 0-9, - and _");
  EXPECT_EQ(with("smem", 1), "smem: no such key");
  EXPECT_EQ(with("shared_per_block_optin", 164 << 10),
            "shared_per_block_optin: 167936: must not exceed shared_per_multiprocessor less "
            "reserved_shared_per_block (166912)");
  EXPECT_EQ(with("persisting_l2_bytes", 2000000000),
            "persisting_l2_bytes: 2000000000: must not exceed l2_bytes (41943040)");
  EXPECT_EQ(read_text("[]"), "must hold one object");
  EXPECT_EQ(with("memory_bytes", Json::array({1})),
            "memory_bytes: array: must be a number from 1048576 to 17592186044416");
  EXPECT_EQ(read_text("{").find("not JSON: parse error at line "), 0u);
  EXPECT_EQ(read_device("/no/such/file.json", device_),
            "cannot read /no/such/file.json: No such file or directory");
  EXPECT_EQ(read_device("/", device_), "cannot read /: Is a directory");
}

TEST_F(DeviceFile, ValuesMayBeNestedDeeply) {
  constexpr std::size_t kDepth = 300000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  EXPECT_EQ(read_text("{\"base\": " + deep + "}").find("base: array: must be a known device: "),
            0u);
  EXPECT_EQ(read_text("{\"base\": \"h100\", \"name\": \"deep\", \"id\": " + deep + "}"),
            "id: array: must be a text of 1 to 32 characters");
}

TEST_F(DeviceFile, IsAnItemOfTheListOfDevices) {
  ASSERT_EQ(read(own()), "");
  std::vector<Device> list;
  ASSERT_EQ(parse_devices("h200," + path_ + "," + path_ + ":2", list), "");
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[3].id, "own");
  EXPECT_EQ(parse_devices("none.json", list), "cannot read none.json: No such file or directory");
  EXPECT_EQ(with_absolute_files("h200:2,/a/b.json:3,/c.json"), "h200:2,/a/b.json:3,/c.json");
  EXPECT_EQ(with_absolute_files("x.json:2"),
            (std::filesystem::current_path() / "x.json:2").string());
}

}  // namespace
}  // namespace vgpu
