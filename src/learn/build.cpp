// SPDX-License-Identifier: Apache-2.0
#include "learn/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "problem/number.hpp"
#include "report/files.hpp"
#include "report/temporary.hpp"

namespace ladder::learn {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMostErrors = 3;
constexpr const char* kCall = "the call in exercise.json";

Status bad(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

std::string wrapper(const Exercise& exercise, const std::string& file) {
  std::string arguments;
  for (std::size_t i = 0; i < exercise.parameters.size(); ++i)
    arguments += fmt::format("{}*static_cast<{} const*>(p[{}])", i == 0 ? "" : ", ",
                             exercise.parameters[i].type, i);
  return fmt::format(
      "#include <cuda_runtime.h>\n"
      "#include \"{}\"\n"
      "#line 1 \"{}\"\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void {}(void* const* p) {{ {}({}); "
      "}}\n",
      file, kCall, kEntry, exercise.function, arguments);
}

// A message of nvcc, "FILE(12): error: ...", or of the host compiler, "FILE:12:5: error: ...".
struct Message {
  std::string file, text;
  int line = 0;
};
std::optional<Message> message_in(const std::string& line) {
  const auto error = std::min(line.find(" error"), line.find(" fatal error"));
  if (error == line.npos) return std::nullopt;
  const std::string place = line.substr(0, error);
  for (const char opening : {'(', ':'}) {
    const auto at = place.find(opening);
    if (at == place.npos) continue;
    const auto end = place.find_first_not_of("0123456789", at + 1);
    const auto number = parse_number<int>(place.substr(at + 1, end - at - 1));
    if (number) return Message{place.substr(0, at), line.substr(error + 1), *number};
  }
  return std::nullopt;
}

// The errors, each with the line of the learner's file that it is about.
std::vector<std::string> errors_of(const std::string& output, const std::string& file,
                                   const fs::path& shown) {
  const auto source = read_file(shown.string());
  std::vector<std::string> errors;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line) && errors.size() < kMostErrors;) {
    const bool is_count = line.find(" detected in the compilation") != std::string::npos;
    if (line.find("error") == std::string::npos || is_count) continue;
    const auto message = message_in(line);
    if (!message) {
      errors.push_back(line);
    } else if (message->file == kCall) {
      errors.push_back(message->text + " (the function's name and parameters are as given)");
    } else {
      const bool own = message->file == file;
      errors.push_back(fmt::format("{}:{}: {}", own ? shown.filename().string() : message->file,
                                   message->line, message->text));
      if (own && source)
        errors.back() +=
            fmt::format("\n{:>5} | {}", message->line, line_of(source.value(), message->line));
    }
  }
  if (errors.empty()) errors.push_back(tune::first_error(output));
  return errors;
}

}  // namespace

std::string line_of(const std::string& text, int number) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < number; ++i) {
    if (!std::getline(lines, line)) return "";
  }
  return line;
}

Result<Compilation> compile(const Exercise& exercise, const fs::path& file, const fs::path& folder,
                            tune::Deadline deadline, const tune::Stop& stop) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return bad(file.string() + ": no such file");
  const std::string nvcc = tune::find_nvcc();
  if (nvcc.empty())
    return bad("nvcc: not found in LADDER_NVCC, PATH, CUDA_HOME or /usr/local/cuda");
  // Links give nvcc paths without special characters.
  const fs::path links = folder / "links";
  fs::create_directory(links, error);
  const auto own = plain_path(fs::absolute(file), links / "kernel.cu"),
             bin = plain_path(fs::path(nvcc).parent_path(), links / "bin");
  if (!own) return own.status();
  if (!bin) return bin.status();
  const fs::path source = folder / "wrapper.cu", library = folder / "kernel.so";
  if (Status status = write_atomic(source.string(), wrapper(exercise, own.value().string()));
      !status)
    return status;
  const auto result = tune::run(
      {"env", "TMPDIR=" + folder.string(), (bin.value() / fs::path(nvcc).filename()).string(),
       "-std=c++20", "-O3", "-lineinfo", "-diag-suppress=177,550",
       "-Xcompiler=-O0,-fPIC,-fvisibility=hidden",
       fmt::format("-gencode=arch=compute_{0},code=[sm_{0},compute_{0}]", exercise.arch), "-shared",
       "-cudart=shared", "-Xptxas=-v", "-o", library.string(), source.string()},
      deadline, stop);
  if (!result) return result.status();
  const tune::Finished& done = result.value();
  if (done.timed_out) return bad(file.string() + ": not compiled in time");
  if (!done.ended) return bad("interrupted");
  Compilation made;
  if (done.end.status != 0) {
    made.errors = errors_of(done.output, own.value().string(), file);
    return made;
  }
  made.library = library;
  static_cast<tune::Resources&>(made) = tune::resources_in(done.output);
  return made;
}

}  // namespace ladder::learn
