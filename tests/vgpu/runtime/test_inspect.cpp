// SPDX-License-Identifier: Apache-2.0
// Which programs can run on the virtual GPU, and how its libraries are put before the program's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>

#include "app/process.hpp"

namespace vgpu::app {
namespace {

TEST(Inspecting, ALoaderListIsRead) {
  const auto libraries = parse_loader_list(
      "\tlinux-vdso.so.1 (0x00007ffc)\n"
      "\tlibcudart.so.13 => /opt/my libs/libcudart.so.13 (0x00007f01)\n"
      "\tlibcuda.so.1 => not found\n"
      "\tlibkernels.so => ./libkernels.so (0x00007f02)\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f03)\n");
  ASSERT_EQ(libraries.size(), 3u);
  EXPECT_EQ(libraries[0].name, "libcudart.so.13");
  EXPECT_EQ(libraries[0].path, "/opt/my libs/libcudart.so.13");
  EXPECT_EQ(libraries[1].name, "libcuda.so.1");
  EXPECT_EQ(libraries[1].path, "");
  EXPECT_EQ(libraries[2].path, "./libkernels.so");
}

CudaFile with(StaticRuntime runtime) {
  CudaFile file;
  file.is_elf = file.has_device_code = file.has_symbols = true;
  file.interpreter = "/lib64/ld-linux-x86-64.so.2";
  file.runtime = runtime;
  return file;
}
const CudaFile kProgram = with(StaticRuntime::kNone);
const Library kC{"libc.so.6", "/lib/libc.so.6", {}};

TEST(Inspecting, TheDriverAndCuda12sRuntimeAreReplaced) {
  for (const char* name : {"libcuda.so.1", "libcudart.so.12"}) {
    const Inspection found = judge("p", kProgram, {kC, {name, "/x", {}}});
    EXPECT_EQ(found.error + found.warning, "") << name;
  }
}

TEST(Inspecting, RuntimesOfCuda13AreReplaced) {
  const Inspection shared = judge("p", kProgram, {kC, {"libcudart.so.13", "/x", {}}});
  EXPECT_EQ(shared.error + shared.warning, "");
#if defined(__x86_64__)
  const Inspection linked_in = judge("p", with(StaticRuntime::kCuda13), {kC});
  EXPECT_EQ(linked_in.error + linked_in.warning, "");
  const Inspection in_library =
      judge("p", kProgram, {kC, {"libmine.so", "/x", with(StaticRuntime::kCuda13)}});
  EXPECT_EQ(in_library.error + in_library.warning, "");
#endif
}

TEST(Inspecting, AStrippedProgramIsAnErrorThatTellsTheRemedy) {
  CudaFile stripped = kProgram;
  stripped.has_symbols = false;
  EXPECT_EQ(judge("p", stripped, {kC}).error,
            "p has the CUDA runtime linked in and no symbols that say where: link it without -s "
            "(and do not strip it), or with `nvcc -cudart shared`");
  stripped.needed = "libcudart.so.13";
  EXPECT_EQ(judge("p", stripped, {kC, {stripped.needed, "", {}}}).error, "");
}

TEST(Inspecting, AProgramWithoutLoaderIsAnError) {
  CudaFile alone = with(StaticRuntime::kCuda13);
  alone.interpreter = "";
  EXPECT_NE(judge("p", alone, {}).error, "");
}

TEST(Inspecting, AnotherRuntimesVersionIsAnError) {
  EXPECT_EQ(judge("p", kProgram, {{"libcudart.so.11.0", "", {}}}).error,
            "p is linked to libcudart.so.11.0; the virtual GPU stands in for those of CUDA 12 and "
            "13: rebuild it with one of them");
  EXPECT_EQ(judge("p", with(StaticRuntime::kOlder), {kC}).error,
            "p has the runtime of CUDA 11 or older linked in; the virtual GPU stands in for those "
            "of CUDA 12 and 13: rebuild it with one of them");
}

TEST(Inspecting, AProgramWithoutCudaMayLoadItLater) {
  const auto result = judge("/usr/bin/python3", {}, {});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.warning,
            "/usr/bin/python3 uses no CUDA library: only what it loads or starts can run on the "
            "virtual GPU");
}

TEST(CudaFiles, FactsOfThisProgram) {
  const CudaFile file = read_cuda_file("/proc/self/exe");
  EXPECT_TRUE(file.is_elf);
  EXPECT_TRUE(file.has_symbols);
  EXPECT_NE(file.interpreter.find("ld-linux"), std::string::npos);
  EXPECT_FALSE(file.has_device_code);
  EXPECT_EQ(file.runtime, StaticRuntime::kNone);
}

TEST(CudaFiles, OtherFilesHaveNone) {
  EXPECT_FALSE(read_cuda_file(__FILE__).is_elf);
  EXPECT_FALSE(read_cuda_file("/nonexistent").is_elf);
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
  EXPECT_EQ(output_of(sh, {"sh", "-c", "echo $X"}, {"X=1 2"}), "1 2");
  EXPECT_THROW(output_of(sh, {"sh", "-c", "exit 1"}, {}), std::runtime_error);
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
