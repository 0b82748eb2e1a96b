// SPDX-License-Identifier: Apache-2.0
// The tuner on a fake rung whose candidates crash, hang, are wrong, spill, or are slower or faster,
// on the host.
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "host/query.hpp"
#include "tune/result.hpp"
#include "tune/tuner.hpp"

namespace ladder::tune {
namespace {

namespace fs = std::filesystem;

constexpr std::array kBehaviours{0, 1, 2, 3, 4};  // right, crashes, hangs, wrong, spills
// Further apart than a busy machine's scheduler changes times; the second is below three times the
// first, beyond which a candidate is launched only once.
constexpr std::array kMilliseconds{4, 9, 25};
constexpr Parameter kParameters[] = {{"behaviour", kBehaviours}, {"milliseconds", kMilliseconds}};
constexpr std::array kByHand{0, 9};
// Three correct ones and one of each other kind.
const SearchSpace kSpace{"fake", kParameters, kByHand,
                         [](std::span<const int> v) { return v[0] == 0 || v[1] == 9; }};

class TuneFake : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ladder-tune-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    job_.space = &kSpace;
    const fs::path root = LADDER_SOURCE_DIR;
    job_.compiler.source = root / "tests" / "tune" / "fake.cu";
    job_.compiler.includes = {root / "include", root / "src"};
    job_.compiler.cache = cache();
    job_.worker = {"/proc/self/exe", "serve"};
    job_.device = host_device();
    job_.problem = job_.counted = make_problem(16, 16, 16);
    options_.budget_s = 120;
    options_.jobs = 2;
    options_.trial_limit_s = 10;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // One cache for all tests here: no candidate is compiled twice.
  static const fs::path& cache() {
    static const struct Folder {
      Folder() {
        std::string name = (fs::temp_directory_path() / "ladder-tune-cache-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) std::abort();
        path = name;
      }
      ~Folder() { fs::remove_all(path); }
      fs::path path;
    } folder;
    return folder.path;
  }

  // Compiles the whole space, however long that takes on a busy machine: the budget then limits
  // running only.
  void fill_cache() {
    const Deadline end = Clock::now() + std::chrono::minutes(8);
    const auto compiler = Compiler::open(kSpace, job_.compiler, end, {});
    ASSERT_TRUE(compiler) << compiler.status().message();
    CompilePool pool(compiler.value(), options_.jobs, 240, end, {});
    for (const Point& point : all_points(kSpace)) pool.submit(point);
    while (const auto done = pool.next()) {
      EXPECT_EQ(done->second.outcome == Compiled::Outcome::kOk, done->first[0] != 4)
          << done->second.reason;
    }
  }

  static Fate fate_of(const Tuning& tuning, const Point& point) {
    for (const Candidate& c : tuning.candidates) {
      if (c.point == point) return c.fate;
    }
    ADD_FAILURE() << "not tried: " << values_text(point);
    return Fate::kNotBuilt;
  }

  fs::path folder_;
  Job job_;
  Options options_;
};

TEST_F(TuneFake, LosesOnlyTheBadOnesAndFindsTheFastest) {
  fill_cache();
  const auto tuned = tune(job_, options_);
  ASSERT_TRUE(tuned) << tuned.status().message();
  const Tuning& tuning = tuned.value();
  EXPECT_EQ(tuning.candidates.size(), 7U);
  EXPECT_EQ(fate_of(tuning, {1, 9}), Fate::kCrashed);
  EXPECT_EQ(fate_of(tuning, {2, 9}), Fate::kHung);
  EXPECT_EQ(fate_of(tuning, {3, 9}), Fate::kWrong);
  EXPECT_EQ(fate_of(tuning, {4, 9}), Fate::kSpills);
  ASSERT_TRUE(tuning.winner);
  EXPECT_EQ(tuning.candidates[*tuning.winner].point, (Point{0, 4}));
  ASSERT_TRUE(tuning.by_hand);
  EXPECT_EQ(tuning.candidates[*tuning.by_hand].point, (Point{0, 9}));
  ASSERT_TRUE(tuning.final);
  EXPECT_GT(tuning.final->rounds_won, 0.9);
  EXPECT_EQ(tuning.compiled, 0U);
  EXPECT_EQ(tuning.from_cache, 7U);

  const auto json = nlohmann::json::parse(to_json(job_, tuning, {}));
  EXPECT_EQ(json.at("candidates").size(), 7U);
  const auto saved = tuned_file("", job_, tuning, {});
  ASSERT_TRUE(saved);
  EXPECT_EQ(nlohmann::json::parse(saved.value())["rungs"]["fake"]["values"],
            (nlohmann::json{0, 4}));
  EXPECT_FALSE(tuned_file("{\"gpu\": \"other\", \"rungs\": {}}", job_, tuning, {}));
}

TEST_F(TuneFake, InterruptedKeepsTheBestSoFar) {
  bool something_passed = false;
  options_.keep = [&](const Tuning& so_far) { something_passed = so_far.winner.has_value(); };
  options_.interrupted = [&] { return something_passed; };
  const auto tuning = tune(job_, options_);
  ASSERT_TRUE(tuning) << tuning.status().message();
  EXPECT_TRUE(tuning.value().interrupted);
  EXPECT_TRUE(tuning.value().winner);
  EXPECT_FALSE(tuning.value().final);
}

TEST_F(TuneFake, TriesWhatItIsGivenFirstAndOnly) {
  options_.first = {{0, 25}};
  options_.strategy = Strategy::kExhaustive;
  std::vector<Point> tried;
  options_.only = {{0, 25}, {0, 4}};
  job_.compiler.cache = folder_ / "empty";
  const auto given = tune(job_, options_);
  ASSERT_TRUE(given) << given.status().message();
  for (const Candidate& c : given.value().candidates) tried.push_back(c.point);
  std::ranges::sort(tried);
  EXPECT_EQ(tried, (std::vector<Point>{{0, 4}, {0, 25}}));
  EXPECT_FALSE(given.value().interrupted);
  EXPECT_EQ(given.value().compiled, 2U);
  EXPECT_EQ(given.value().from_cache, 0U);
  job_.compiler.cache = cache();
  options_.only = {{1, 4}};
  EXPECT_EQ(tune(job_, options_).status().code(), Code::kInvalidArgument);
  options_.only.clear();
  options_.jobs = 1;  // candidates then follow in order
  bool enough = false;
  options_.keep = [&](const Tuning& so_far) { enough = so_far.candidates.size() >= 2; };
  options_.interrupted = [&] { return enough; };
  const auto first = tune(job_, options_);
  ASSERT_TRUE(first);
  ASSERT_GE(first.value().candidates.size(), 2U);
  EXPECT_EQ(first.value().candidates[0].point, (Point{0, 9}));
  EXPECT_EQ(first.value().candidates[1].point, (Point{0, 25}));
}

TEST_F(TuneFake, EndsWithItsBudget) {
  options_.budget_s = 3;
  // the compilers take most of a minute for the whole space
  job_.compiler.cache = folder_ / "empty";
  const auto start = Clock::now();
  const auto tuning = tune(job_, options_);
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - start).count(), 6);
  if (tuning) {
    EXPECT_LT(tuning.value().candidates.size(), 7U);
  }
}

TEST_F(TuneFake, NoCompiler) {
  job_.compiler.nvcc = "/no/such/nvcc";
  const auto tuning = tune(job_, options_);
  ASSERT_FALSE(tuning);
  EXPECT_NE(tuning.status().message().find("nvcc"), std::string::npos);
}

TEST(TuneSpace, NeighboursAreAllowedAndNear) {
  for (const Point& near : neighbours(kSpace, {0, 9})) EXPECT_TRUE(kSpace.allowed(near));
  EXPECT_EQ(neighbours(kSpace, {0, 9}).size(), 3U);  // 0,4; 0,25; 1,9
  EXPECT_EQ(shuffled_points(kSpace, 5).front(), (Point{0, 9}));
  EXPECT_EQ(shuffled_points(kSpace, 5), shuffled_points(kSpace, 5));
}

TEST(TuneProcess, ReportsEndsAndLimits) {
  const auto in = [](double s) {
    return Clock::now() + std::chrono::milliseconds(static_cast<int>(1000 * s));
  };
  EXPECT_EQ(run({"sh", "-c", "echo a; exit 3"}, in(10), {}).value().end.status, 3);
  EXPECT_TRUE(run({"sleep", "30"}, in(0.2), {}).value().timed_out);
  EXPECT_FALSE(run({"sleep", "30"}, in(10), [] { return true; }).value().ended);
  EXPECT_FALSE(run({"/no/such/program"}, in(10), {}));
}

// A pipe whose writing end is inherited by children: it closes when none of them is left.
class Lifeline {
 public:
  Lifeline() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Lifeline() { (void)::close(ends_[0]); }
  void leave_to_children() const { (void)::close(ends_[1]); }
  bool ends(int milliseconds) const {
    pollfd end{ends_[0], POLLIN, 0};
    char byte = 0;
    return ::poll(&end, 1, milliseconds) == 1 && ::read(ends_[0], &byte, 1) == 0;
  }

 private:
  std::array<int, 2> ends_{};
};

// A shell and a program that it starts and waits for, as compilers do.
const std::vector<std::string> kTwoProcesses{"sh", "-c", "sleep 60 & echo started; wait"};

TEST(TuneProcess, KilledChildrenLeaveNothingBehind) {
  const Lifeline lifeline;
  auto child = Child::start(kTwoProcesses, false);
  lifeline.leave_to_children();
  std::string line;
  EXPECT_EQ(child.value().read_line(line, Clock::now() + std::chrono::seconds(20), {}),
            Child::Read::kLine);
  child.value().kill();
  EXPECT_TRUE(lifeline.ends(0));
}

TEST(TuneProcess, ChildrenOfAKilledParentEndWithAllTheyStarted) {
  const Lifeline lifeline;
  std::array<int, 2> started{};
  ASSERT_EQ(::pipe(started.data()), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto child = Child::start(kTwoProcesses, false);
    std::string line;
    (void)child.value().read_line(line, Clock::now() + std::chrono::seconds(20), {});
    (void)!::write(started[1], "x", 1);
    ::pause();
  }
  lifeline.leave_to_children();
  char byte = 0;
  EXPECT_EQ(::read(started[0], &byte, 1), 1);
  EXPECT_EQ(::kill(parent, SIGKILL), 0);
  EXPECT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_TRUE(lifeline.ends(20000));
}

TEST(TuneModel, ResidentBlocksFollowTheScarcestResource) {
  const SmLimits limits;
  EXPECT_EQ(resident_blocks(limits, 256, 128, 16384), 2);
  EXPECT_EQ(resident_blocks(limits, 256, 149, 8192), 1);
  EXPECT_EQ(resident_blocks(limits, 1024, 32, 0), 2);
  EXPECT_EQ(resident_blocks(limits, 64, 32, 48 * 1024), 4);
}

}  // namespace
}  // namespace ladder::tune

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "serve")
    return ladder::tune::serve(STDIN_FILENO, STDOUT_FILENO, ladder::host_device());
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
