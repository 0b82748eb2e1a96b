// SPDX-License-Identifier: Apache-2.0
// Which programs can run on the virtual GPU, and how its libraries are put before the program's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "app/elf.hpp"
#include "app/inspect.hpp"

namespace vgpu::app {
namespace {

namespace fs = std::filesystem;

class Inspecting : public testing::Test {
 protected:
  fs::path root = fs::path(testing::TempDir()) / ("vgpu_inspect." + std::to_string(getpid()));
  std::string ours = (root / "ours").string(), theirs = (root / "theirs").string();
  Inspecting() {
    fs::create_directories(ours);
    fs::create_directories(theirs);
  }
  ~Inspecting() override { fs::remove_all(root); }
};

TEST_F(Inspecting, ALoaderListIsRead) {
  const auto libraries = parse_loader_list(
      "\tlinux-vdso.so.1 (0x00007ffc)\n"
      "\tlibcudart.so.13 => /opt/my libs/libcudart.so.13 (0x00007f01)\n"
      "\tlibcuda.so.1 => not found\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f03)\n");
  ASSERT_EQ(libraries.size(), 2u);
  EXPECT_EQ(libraries[0].name, "libcudart.so.13");
  EXPECT_EQ(libraries[0].path, "/opt/my libs/libcudart.so.13");
  EXPECT_EQ(libraries[1].name, "libcuda.so.1");
  EXPECT_EQ(libraries[1].path, "");
}

TEST_F(Inspecting, AProgramThatFindsOursNeedsNothing) {
  const auto result = judge("p", true, {{"libcudart.so.13", ours + "/libcudart.so.13"}}, ours);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.warning, "");
  EXPECT_TRUE(result.preload.empty());
}

TEST_F(Inspecting, AProgramWithItsOwnLibraryPathGetsThemPreloaded) {
  const auto result = judge("p", true,
                            {{"libcudart.so.13", theirs + "/libcudart.so.13"},
                             {"libcublas.so.13", theirs + "/libcublas.so.13"},
                             {"libm.so.6", theirs + "/libm.so.6"}},
                            ours);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.preload, (std::vector{ours + "/libcudart.so.13", ours + "/libcublas.so.13"}));
}

TEST_F(Inspecting, AStaticRuntimeIsAnErrorThatTellsTheRemedy) {
  const auto result = judge("p", true, {{"libc.so.6", "/lib/libc.so.6"}}, ours);
  EXPECT_EQ(result.error,
            "p has the CUDA runtime linked in; rebuild it with `nvcc -cudart shared`");
}

TEST_F(Inspecting, AnotherRuntimesVersionIsAnError) {
  const auto result = judge("p", true, {{"libcudart.so.12", ""}}, ours);
  EXPECT_EQ(result.error,
            "p is linked to libcudart.so.12; the virtual GPU stands in for libcudart.so.13: "
            "rebuild with CUDA 13");
}

TEST_F(Inspecting, AProgramWithoutCudaMayLoadItLater) {
  const auto result = judge("/usr/bin/python3", false, {}, ours);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(
      result.warning,
      "/usr/bin/python3 does not link libcudart.so.13: only what it loads or starts can run on the "
      "virtual GPU");
}

TEST(Elf, FactsOfThisProgram) {
  const ElfFacts facts = read_elf("/proc/self/exe");
  EXPECT_TRUE(facts.is_elf);
  EXPECT_NE(facts.interpreter.find("ld-linux"), std::string::npos);
  EXPECT_FALSE(facts.has_device_code);
}

TEST(Elf, OtherFilesHaveNone) {
  EXPECT_FALSE(read_elf(__FILE__).is_elf);
  EXPECT_FALSE(read_elf("/nonexistent").is_elf);
}

TEST(Process, ProgramsAreFoundAsAShellFindsThem) {
  EXPECT_EQ(find_program("sh").error, 0);
  EXPECT_EQ(find_program("/nonexistent/program").error, 127);
  EXPECT_EQ(find_program("no-such-program-anywhere").error, 127);
  EXPECT_EQ(find_program("/etc/passwd").error, 126);
}

TEST(Process, StatusIsTheProgramsOwnOrTheSignals) {
  const std::string sh = find_program("sh").path;
  EXPECT_EQ(run(sh, {"sh", "-c", "exit 7"}, current_environment()), 7);
  EXPECT_EQ(run(sh, {"sh", "-c", "kill -9 $$"}, current_environment()), 137);
  EXPECT_EQ(output_of(sh, {"sh", "-c", "echo $X"}, {"X=1 2"}), "1 2\n");
}

// The program reports through a pipe that it waits for the signal. Only then is the signal sent to
// this process, and only the thread that runs the program receives it, so that nothing depends on
// timing.
TEST(Process, SignalsGoOnToTheProgram) {
  const auto python = find_program("python3");
  if (python.error != 0) GTEST_SKIP() << "no python3";
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    std::thread sender([&] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, nullptr);
      char ready = 0;
      if (::read(ends[0], &ready, 1) == 1) ::kill(::getpid(), signal);
    });
    const std::string script =
        "import os, signal, sys\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
        "os.write(int(sys.argv[1]), b'r')\n"
        "os._exit(40 + signal.sigwait(signal.valid_signals()))\n";
    EXPECT_EQ(
        run(python.path, {"python3", "-c", script, std::to_string(ends[1])}, current_environment()),
        40 + signal);
    ::close(ends[1]);  // ends the thread if the program did not get that far
    sender.join();
    ::close(ends[0]);
  }
}

}  // namespace
}  // namespace vgpu::app
