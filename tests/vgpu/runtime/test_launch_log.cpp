// SPDX-License-Identifier: Apache-2.0
// The counters file is complete JSON after every launch, and replaces its destination at the end.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "runtime/launch_log.hpp"

namespace vgpu {
namespace {

const std::vector<Device> h200 = {*find_device("h200")};

using Json = nlohmann::ordered_json;

LaunchRecord record(const char* kernel, std::uint64_t count) {
  LaunchRecord launch;
  launch.kernel = kernel;
  launch.grid = {4, 2, 1};
  launch.block = {32, 8, 1};
  launch.report.engine = "ptx";
  launch.report.exact["smsp__inst_executed_op_global_ld.sum"] = count;
  launch.report.estimates["smsp__inst_executed.sum"] = 7;
  return launch;
}

Json read(const std::string& path) {
  std::ifstream in(path);
  return Json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
}

class LaunchLogFile : public testing::Test {
 protected:
  std::string path = (std::filesystem::path(testing::TempDir()) /
                      ("vgpu_launch_log.json." + std::to_string(getpid())))
                         .string();
  const std::string part = path + "." + std::to_string(getpid()) + ".part";
  ~LaunchLogFile() override {
    std::remove(path.c_str());
    std::remove(part.c_str());
  }
};

TEST_F(LaunchLogFile, IsWholeAfterEveryLaunch) {
  LaunchLog log;
  ASSERT_EQ(log.open(h200, path), "");
  log.reset();
  for (std::uint64_t i = 0; i < 3; ++i) {
    log.add(record("void f<float>(float*)", i));
    const Json file = read(part);
    ASSERT_EQ(file["launches"].size(), i + 1);
    EXPECT_EQ(file["launches"][i]["metrics"]["smsp__inst_executed_op_global_ld.sum"], i);
  }
  EXPECT_EQ(Json::parse(log.json()), read(part));
  EXPECT_EQ(log.close().error, "");
  EXPECT_EQ(Json::parse(log.json()), read(path));
  EXPECT_FALSE(std::filesystem::exists(part));
}

TEST_F(LaunchLogFile, IsThereWithoutLaunches) {
  LaunchLog log;
  ASSERT_EQ(log.open(h200, path), "");
  log.close();
  EXPECT_EQ(read(path)["launches"], Json::array());
}

TEST_F(LaunchLogFile, HasTheDocumentedFields) {
  LaunchLog log;
  ASSERT_EQ(log.open(h200, path), "");
  log.add(record("f(\"quoted\")", std::uint64_t{1} << 40));
  log.close();
  const Json expected = Json::parse(R"json({"device": "h200", "devices": ["h200"], "launches": [
      {"kernel": "f(\"quoted\")", "device": 0, "grid": [4, 2, 1], "block": [32, 8, 1], "engine": "ptx",
      "metrics": {"smsp__inst_executed_op_global_ld.sum": 1099511627776},
      "estimates": {"smsp__inst_executed.sum": 7}}]})json");
  Json found = read(path);
  EXPECT_NE(found["methods"]["smsp__inst_executed.sum"], "") << "every estimate has its method";
  found.erase("methods");
  EXPECT_EQ(found.dump(), expected.dump());
}

TEST_F(LaunchLogFile, ResetForgetsWhatIsAskedForNotWhatIsWritten) {
  LaunchLog log;
  ASSERT_EQ(log.open(h200, path), "");
  log.add(record("f()", 1));
  EXPECT_EQ(Json::parse(log.json())["launches"].size(), 0u)
      << "nothing is kept before the first reset";
  log.reset();
  EXPECT_EQ(Json::parse(log.json())["launches"].size(), 0u);
  log.add(record("g()", 2));
  EXPECT_EQ(Json::parse(log.json())["launches"].size(), 1u);
  EXPECT_EQ(read(part)["launches"].size(), 2u);
}

TEST(LaunchLog, NamesAFileThatItCannotWrite) {
  LaunchLog log;
  EXPECT_EQ(log.open(h200, "/nonexistent/c.json"),
            "cannot write /nonexistent/c.json: No such file or directory");
}

}  // namespace
}  // namespace vgpu
