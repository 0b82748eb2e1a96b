// SPDX-License-Identifier: Apache-2.0
// vgpu: runs an unmodified CUDA program on the virtual GPU. The loader finds the virtual GPU's
// libraries before CUDA's.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "app/conclusion.hpp"
#include "app/process.hpp"
#include "devices/devices.hpp"
#include "pages/pages.hpp"
#include "runtime/printable.hpp"
#include "runtime/settings.hpp"

namespace {

namespace fs = std::filesystem;
using vgpu::app::Environment;
using vgpu::app::Options;
using vgpu::app::text_of;

constexpr const char* kDropIn = "libladder_cublas.so";
constexpr const char* kRedirect = "libvgpu_redirect.so";
constexpr int kHotLines = 30;  // lines per kernel that --source prints
constexpr int kBadArgument = 2, kCannotRun = 126;

struct Help : CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: vgpu [OPTIONS] [--] PROGRAM ARGS...\n";
  }
};

// A temporary folder, which the destructor removes.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    if (error)
      throw std::runtime_error(fmt::format("TMPDIR: {}: no folder", std::getenv("TMPDIR")));
    path_ = (parent / "vgpu-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "a folder in TMPDIR: " + path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void say(const std::string& message) { fmt::print(stderr, "vgpu: {}\n", vgpu::printable(message)); }

int fail(int status, const std::string& message) {
  say(message);
  return status;
}

constexpr const char* kNotPrinted = "standard output: not everything could be written";
bool is_printed() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

// ../lib/vgpu relative to this program, both in the build folder and when installed.
std::string library_folder() {
  return (fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib" / "vgpu").string();
}

// Returns a name of `folder` for LD_LIBRARY_PATH and LD_AUDIT, which have no quoting. If the
// folder's own name contains a separator or $, returns the /proc path of a descriptor of this
// process, which exists as long as the program runs.
std::string loader_name(const std::string& folder) {
  if (folder.find_first_of(":; \t\n$") == std::string::npos) return folder;
  const int descriptor = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), folder);
  return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor);
}

void prepend(Environment& environment, const char* name, const std::string& value) {
  const std::string former = vgpu::app::get(environment, name);
  vgpu::app::set(environment, name, former.empty() ? value : value + ":" + former);
}

// Adds the setting of the C library, unless the user has one of that name.
void tune(Environment& environment, const char* name, std::uint64_t value) {
  constexpr const char* kVariable = "GLIBC_TUNABLES";
  const std::string former = vgpu::app::get(environment, kVariable);
  if (former.find(name) == former.npos)
    prepend(environment, kVariable, fmt::format("{}={}", name, value));
}

// The loader reserves less memory for the thread-local variables of a program's libraries where
// LD_AUDIT is set. This reserves what they need, and a little for programs that it starts.
void reserve_tls(Environment& environment, std::uint64_t bytes) {
  constexpr std::uint64_t kLittle = 4096;
  tune(environment, "glibc.rtld.optional_static_tls", bytes + kLittle);
}

// Preloads the project's library, which takes the place of cuBLAS: it launches kernels for the
// products that it computes and forwards the others. Returns "" or an error message.
std::string use_drop_in(const fs::path& folder, Environment& environment) {
  constexpr const char* kTake = "LADDER_CUBLAS_TAKE";
  if (!fs::exists(folder / kDropIn))
    return fmt::format("--blas: ladder: {} is missing", (folder / kDropIn).string());
  prepend(environment, "LD_PRELOAD", loader_name(folder.string()) + "/" + kDropIn);
  if (vgpu::app::get(environment, kTake).empty()) vgpu::app::set(environment, kTake, "all");
  return "";
}

// The title of a counters file: its path, or its process if the user did not name the file.
std::string title(const std::string& path) {
  const fs::path file(path);
  return file.stem() == "launches" ? fmt::format("process {}", file.extension().string().substr(1))
                                   : path;
}

void show_counters(const Options& options, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (paths.size() > 1 && (options.print || options.source))
      fmt::print("{}:\n", vgpu::printable(title(path)));
    if (options.print) fmt::print("{}", vgpu::printable(vgpu::app::details(text_of(path))));
    if (options.source)
      fmt::print("{}", vgpu::printable(vgpu::app::source_view(text_of(path), kHotLines, text_of)));
  }
}

int run(const Options& options) {
  const std::string& name = options.command.front();
  const auto program = vgpu::app::find_program(name);
  if (program.error == 127) {
    const bool here = name.find('/') == name.npos && fs::is_regular_file(name);
    return fail(127,
                name + (here ? ": is not in PATH; ./" + name + " is here" : ": no such program"));
  }
  if (program.error != 0) return fail(program.error, name + ": not executable");

  const std::string folder = library_folder();
  for (const char* library : {vgpu::kCore, kRedirect}) {
    if (fs::exists(fs::path(folder) / library)) continue;
    return fail(kBadArgument,
                fmt::format("{}/{} is missing: vgpu is not installed whole", folder, library));
  }
  const TemporaryFolder session;
  const std::string report = session.path("report"), claims = session.path("claims");
  fs::create_directory(claims);
  if (!std::ofstream(report)) throw std::system_error(errno, std::generic_category(), report);
  const std::string libraries = loader_name(folder);
  const bool counted = options.print || options.source || !options.baseline.empty();
  const std::string counters = !options.counters.empty() ? fs::absolute(options.counters).string()
                               : counted                 ? session.path("launches.%p")
                                                         : "";
  Environment environment = vgpu::app::current_environment();
  const std::string fail_fast = options.fail_fast                                       ? "1"
                                : vgpu::app::get(environment, "VGPU_FAIL_FAST").empty() ? "0"
                                                                                        : "";
  prepend(environment, "LD_LIBRARY_PATH", libraries);
  const auto set = [&](const std::string& variable, const std::string& value) {
    if (!value.empty()) vgpu::app::set(environment, variable, value);
  };
  for (const auto& [variable, value] : options.settings) set(variable, value);
  set("VGPU_DEVICE", vgpu::with_absolute_files(options.setting("VGPU_DEVICE")));
  set("VGPU_FAIL_FAST", fail_fast);
  set("VGPU_COUNTERS", counters);
  set("VGPU_COUNTERS_CLAIMS", claims);
  // For 2^12 cycles OpenBLAS's threads, which compute cuBLAS's products, wait for the next one. By
  // default they keep the processors from kernels for 2^26.
  constexpr const char* kWait = "OPENBLAS_THREAD_TIMEOUT";
  if (vgpu::app::get(environment, kWait).empty()) vgpu::app::set(environment, kWait, "12");
#if defined(__x86_64__)
  // An OpenBLAS that is older than the processor takes it for one without AVX-512.
  constexpr const char* kKernels = "OPENBLAS_CORETYPE";
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && vgpu::app::get(environment, kKernels).empty())
    vgpu::app::set(environment, kKernels, "SkylakeX");
#endif
  if (options.blas == "ladder") {
    if (const std::string error = use_drop_in(fs::path(folder).parent_path(), environment);
        !error.empty())
      return fail(kBadArgument, error);
  }
  if (options.no_reuse) vgpu::app::set(environment, "VGPU_REUSE", "0");
  if (options.source) vgpu::app::set(environment, "VGPU_SOURCE", "1");
  if (options.verbose) vgpu::app::set(environment, "VGPU_VERBOSE", "1");
  vgpu::app::set(environment, "VGPU_REPORT", report);

  const auto inspection = vgpu::app::inspect(program.path, environment);
  if (!inspection.error.empty()) return fail(kBadArgument, inspection.error);
  if (!inspection.warning.empty()) fmt::print(stderr, "vgpu: {}\n", inspection.warning);
  reserve_tls(environment, inspection.tls_bytes);
  // First accesses to much memory cost less in large pages.
  tune(environment, "glibc.malloc.hugetlb", 1);
  if (vgpu::app::get(environment, "LD_AUDIT").find(kRedirect) == std::string::npos)
    prepend(environment, "LD_AUDIT", libraries + "/" + kRedirect);

  const auto begin = std::chrono::steady_clock::now();
  vgpu::app::Outcome outcome;
  outcome.version = VGPU_VERSION;
  outcome.status = vgpu::app::run(program.path, options.command, environment);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const vgpu::app::CountersFiles files = vgpu::app::finish_counters(claims);
  for (const std::string& error : files.errors) say(error);
  if (!options.counters.empty() && files.paths.empty() && !files.failed)
    say("no counters: the program did not use the virtual GPU");
  show_counters(options, files.paths);
  if (!is_printed()) return fail(kCannotRun, kNotPrinted);
  outcome.errors = files.errors;
  if (files.failed && files.errors.empty()) outcome.errors.push_back("counters were not written");
  outcome.findings = vgpu::app::findings_of(report);
  return vgpu::app::conclude(options, files.paths, outcome);
}

// Prints the manual page, or the command-line completions of a shell; used by the installation.
int print_pages(const CLI::App& app, const std::string& shell) {
  std::vector<std::string> devices;
  for (const vgpu::Device& device : vgpu::devices()) devices.emplace_back(device.id);
  const ladder::pages::Program program{app,
                                       "vgpu",
                                       VGPU_VERSION,
                                       {{"--device", devices},
                                        {"--engine", {"auto", "sass", "ptx"}},
                                        {"--blas", {"host", "ladder"}},
                                        {"--check", vgpu::check_names()},
                                        {"--numerics", {"single", "hopper"}},
                                        {"--schedule", {"eager", "lazy", "random:"}}},
                                       true};
  const std::string text =
      shell.empty() ? ladder::pages::manual(program) : ladder::pages::completion(program, shell);
  if (text.empty())
    return fail(kBadArgument, fmt::format("--completion: '{}' is none of bash, zsh, fish", shell));
  fmt::print("{}", text);
  return 0;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Runs a CUDA program on a virtual GPU, unchanged.");
  app.formatter(std::make_shared<Help>());
  app.footer(
      "Exit status: the program's own; 86 where a check fired; where the program ends with 0, 87 "
      "where counters are worse than in the baseline, 74 where a file cannot be written.");
  Options options;
  app.add_option("--device,--devices", options.settings["VGPU_DEVICE"],
                 "the virtual devices, comma-separated, NAME:COUNT for several alike: " +
                     vgpu::known_devices() + "; or FILE.json, which describes one")
      ->type_name("LIST");
  app.add_option("--engine", options.settings["VGPU_ENGINE"],
                 "auto (default): machine code where it is known, else PTX; or only sass, only ptx")
      ->type_name("ENGINE");
  app.add_option("--blas", options.blas,
                 "who computes products of cuBLAS: host (default), or ladder: this project's "
                 "kernels on the virtual GPU, where they fit, so that they are counted")
      ->type_name("WHO");
  app.add_option("--check", options.settings["VGPU_CHECK"],
                 "comma-separated: " + vgpu::known_checks() +
                     "; default: memory,race,init-global,sync (init: also shared and local memory)")
      ->type_name("LIST");
  app.add_flag("--fail-fast", options.fail_fast,
               "end a launch at its first finding, also at one with which hardware would go on: "
               "race, init, sync");
  app.add_option("--counters", options.counters,
                 "write every launch's counters as JSON; %p becomes the process id. Without it "
                 "the first process writes FILE, others FILE.PID")
      ->type_name("FILE");
  app.add_flag("--print", options.print, "print tables of the kernels' counters at the end");
  app.add_flag("--source", options.source,
               "count by source line too, and print the hottest (needs -lineinfo)");
  app.add_option("--kernel", options.settings["VGPU_KERNEL"],
                 "record only launches of kernels whose name matches (POSIX extended)")
      ->type_name("REGEX");
  app.add_option("--launch-skip", options.settings["VGPU_LAUNCH_SKIP"],
                 "... and skip the first N of them")
      ->type_name("N");
  app.add_option("--launch-count", options.settings["VGPU_LAUNCH_COUNT"],
                 "... and record at most N")
      ->type_name("N");
  app.add_option("--sample-blocks", options.settings["VGPU_SAMPLE_BLOCKS"],
                 "execute N blocks of a launch and scale; the others' results are not written")
      ->type_name("N");
  app.add_option("--timeout", options.settings["VGPU_TIMEOUT"],
                 "end a kernel that runs longer than SECONDS; it counts as a check that fired")
      ->type_name("SECONDS");
  app.add_flag("--no-reuse", options.no_reuse,
               "execute every launch, also one that repeats an earlier one on the same memory");
  app.add_option("--threads", options.settings["VGPU_THREADS"],
                 "host threads of a launch (default: all)")
      ->type_name("N");
  app.add_option("--numerics", options.settings["VGPU_NUMERICS"],
                 "how tensor cores add: single (the default: one product after the other in "
                 "single precision) or hopper (as an H200, bit for bit)");
  app.add_option("--schedule", options.settings["VGPU_SCHEDULE"],
                 "when asynchronous copies land: eager (default), lazy, random:SEED, which has "
                 "warps and blocks take turns at random, too")
      ->type_name("WHEN");
  app.add_option("--junit", options.junit, "write what was found as a JUnit report")
      ->type_name("FILE");
  app.add_option("--sarif", options.sarif, "write what was found as SARIF 2.1.0")
      ->type_name("FILE");
  app.add_flag("--github", options.github,
               "print what was found as annotations of a GitHub Action");
  CLI::Option* const baseline =
      app.add_option("--baseline", options.baseline,
                     "compare the counters of every launch with those of this file")
          ->type_name("FILE");
  app.add_option("--tolerance", options.tolerance, "... and allow PERCENT more (default: 0)")
      ->type_name("PERCENT")
      ->needs(baseline);
  app.add_flag("--estimates", options.estimates, "... and compare estimates, too")->needs(baseline);
  app.add_flag("--update-baseline", options.update_baseline,
               "write the baseline instead of comparing; estimates with --estimates only")
      ->needs(baseline);
  app.add_flag(
      "--verbose", options.verbose,
      "report for each file that uses CUDA how its calls reach the virtual GPU, and at the "
      "end how many launches reused the results of earlier ones");
  bool instructions = false, devices = false, json = false;
  app.add_flag("--list-instructions", instructions,
               "print the instructions that are known, and end");
  app.add_flag("--list-devices", devices, "print the virtual devices that are known, and end");
  app.add_flag("--json", json, "... as JSON");
  std::string shell;
  app.add_option("--completion", shell, "print the completion of bash, zsh or fish")->group("");
  bool manual = false;
  app.add_flag("--manual", manual, "print the manual page, as troff")->group("");
  app.set_version_flag("--version", std::string("vgpu ") + VGPU_VERSION);
  app.prefix_command();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    const int status = app.exit(success);
    return is_printed() ? status : fail(kCannotRun, kNotPrinted);
  } catch (const CLI::ParseError& error) {
    return fail(kBadArgument, ladder::pages::message_of(error));
  }
  if (manual || !shell.empty()) return print_pages(app, shell);
  if (json && !instructions && !devices)
    return fail(kBadArgument, "--json: needs --list-instructions or --list-devices");
  if (instructions || devices) {
    if (instructions) fmt::print("{}", vgpu::app::list_instructions(json));
    if (devices) fmt::print("{}", vgpu::app::list_devices(json));
    return is_printed() ? 0 : fail(kCannotRun, kNotPrinted);
  }
  options.command = app.remaining();
  if (!options.command.empty() && options.command.front() == "--") {
    options.command.erase(options.command.begin());
  }
  if (options.command.empty())
    return fail(kBadArgument, "PROGRAM: what to run is missing (vgpu --help)");
  if (options.command.front().starts_with('-')) {
    return fail(kBadArgument,
                fmt::format("{}: unknown option (vgpu --help)", options.command.front()));
  }
  for (const CLI::Option* option : app.get_options()) {
    const auto& values = option->results();
    if (std::ranges::find(values, "") != values.end())
      return fail(kBadArgument, option->get_name(false, true) + ": is empty; it needs a value");
  }
  if (const std::string error = vgpu::app::check_options(options); !error.empty())
    return fail(kBadArgument, error);
  return run(options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {  // fmt's of stdout does not name it
    const std::string text = std::ferror(stdout) != 0 ? kNotPrinted : error.what();
    std::fprintf(stderr, "vgpu: %s\n", vgpu::printable(text).c_str());
  } catch (...) {
    std::fputs("vgpu: unknown error\n", stderr);
  }
  return kCannotRun;
}
