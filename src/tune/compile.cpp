// SPDX-License-Identifier: Apache-2.0
#include "tune/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include "problem/number.hpp"
#include "report/files.hpp"
#include "tune/cache.hpp"

namespace ladder::tune {
namespace {

namespace fs = std::filesystem;

// 128-bit FNV-1a: identifies content; not a protection against attacks.
std::string hash(const std::string& text) {
  using Wide = unsigned __int128;
  constexpr Wide kPrime = (Wide{1} << 88) + 0x13B;
  Wide state = (Wide{0x6C62272E07BB0142} << 64) + 0x62B821756295C58D;
  for (const char ch : text) state = (state ^ static_cast<unsigned char>(ch)) * kPrime;
  return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(state >> 64),
                     static_cast<std::uint64_t>(state));
}

Compiled read_entry(const fs::path& base) {
  Compiled compiled;
  if (!is_private(base.string() + ".txt")) return compiled;
  std::ifstream file(base.string() + ".txt");
  int spills = 0;
  if (!(file >> spills >> compiled.registers >> compiled.spill_bytes >> compiled.shared_bytes))
    return compiled;
  compiled.cached = true;
  if (spills != 0) {
    compiled.outcome = Compiled::Outcome::kSpills;
  } else if (is_private(base.string() + ".so")) {
    compiled.outcome = Compiled::Outcome::kOk;
    compiled.library = base.string() + ".so";
  } else {
    compiled.cached = false;
  }
  return compiled;
}

// Copies the output to its place in the cache, not writable by others under any umask.
Status keep(std::string_view made, const fs::path& place) {
  if (Status status = write_atomic(place.string(), made); !status) return status;
  std::error_code error;
  fs::permissions(place, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove,
                  error);
  return error ? Status(Code::kIo, place.string() + ": " + error.message()) : Status::ok();
}

// A folder of intermediate files, removed after its candidate is finished.
struct Scratch {
  fs::path folder;
  ~Scratch() {
    std::error_code error;
    fs::remove_all(folder, error);
  }
};

}  // namespace

std::string find_nvcc() { return find_tool("LADDER_NVCC", "nvcc"); }

std::string first_error(const std::string& output) {
  std::istringstream lines(output);
  std::string last = "the compiler said nothing";
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos)
      return line;
    if (!line.empty()) last = line;
  }
  return last;
}

int largest_before(std::string_view output, std::string_view words) {
  int largest = 0;
  for (auto at = output.find(words); at != output.npos; at = output.find(words, at + 1)) {
    const std::string_view before = output.substr(0, at);
    if (!before.ends_with(' ')) continue;
    const auto gap = before.find_last_not_of("0123456789", before.size() - 2);
    const auto begin = gap == before.npos ? 0 : gap + 1;
    if (const auto number = parse_number<int>(before.substr(begin, before.size() - 1 - begin)))
      largest = std::max(largest, *number);
  }
  return largest;
}

Resources resources_in(const std::string& output) {
  return {.registers = largest_before(output, "registers"),  // "Used 128 registers"
          .spill_bytes = std::max(largest_before(output, "bytes spill stores"),
                                  largest_before(output, "bytes spill loads")),
          .shared_bytes = largest_before(output, "bytes smem")};
}

Result<Compiler> Compiler::open(const SearchSpace& space, CompilerOptions options,
                                Deadline deadline, const Stop& stop) {
  Compiler compiler;
  compiler.space_ = &space;
  compiler.options_ = std::move(options);
  CompilerOptions& o = compiler.options_;
  if (o.nvcc.empty()) o.nvcc = find_nvcc();
  if (o.nvcc.empty())
    return Status(Code::kInvalidArgument,
                  "nvcc: not found in LADDER_NVCC, PATH, CUDA_HOME or /usr/local/cuda; candidates "
                  "are compiled");
  std::error_code error;
  if (!fs::is_regular_file(o.source, error))
    return Status(Code::kInvalidArgument,
                  o.source.string() + ": no such file; the rung's source is compiled");
  auto cache = open_cache(o.cache);
  if (!cache) return cache.status();
  o.cache = std::move(cache).value();
  const auto version = run({o.nvcc, "--version"}, deadline, stop);
  if (!version || version.value().end.status != 0)
    return Status(Code::kInvalidArgument, fmt::format("nvcc: {} --version fails", o.nvcc));
  compiler.version_ = version.value().output;
  if (Status status = compiler.name_plainly(); !status) return status;
  if (Status status = compiler.hash_sources(deadline, stop); !status) return status;
  return compiler;
}

// Creates the scratch folder with links for paths that nvcc cannot handle.
Status Compiler::name_plainly() {
  auto scratch = Temporary::folder("tune");
  if (!scratch) return scratch.status();
  scratch_ = std::move(scratch).value();
  CompilerOptions& o = options_;
  const fs::path folder = scratch_->path(), nvcc(o.nvcc);
  const auto bin = plain_path(nvcc.parent_path(), folder / "nvcc");
  if (!bin) return bin.status();
  if (nvcc.has_parent_path()) o.nvcc = (bin.value() / nvcc.filename()).string();
  const auto rung = plain_path(fs::absolute(o.source).parent_path(), folder / "rung");
  if (!rung) return rung.status();
  o.source = rung.value() / o.source.filename();
  for (std::size_t i = 0; i < o.includes.size(); ++i) {
    const auto include =
        plain_path(fs::absolute(o.includes[i]), folder / fmt::format("include{}", i));
    if (!include) return include.status();
    o.includes[i] = include.value();
  }
  return Status::ok();
}

Status Compiler::write_sources(const fs::path& folder, const Point& point) const {
  std::error_code error;
  fs::create_directories(folder / "tuned", error);
  const std::string rung(space_->rung);
  const std::string tile = fmt::format("{{\"\", launch_tile<Tile<{}>>}}\n", values_text(point));
  const std::string program = fmt::format(
      "#include \"{}\"\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) const ladder::KernelInfo* {}() {{\n"
      "  return ladder::{}::kInfo.data();\n"
      "}}\n",
      options_.source.string(), kEntryPoint, rung);
  if (error) return {Code::kIo, folder.string() + ": " + error.message()};
  if (Status status = write_atomic((folder / "tuned" / (rung + ".inc")).string(), tile); !status)
    return status;
  return write_atomic((folder / "candidate.cu").string(), program);
}

std::vector<std::string> Compiler::command(const fs::path& folder) const {
  // -fvisibility=hidden: the loading program has kernels of the same names.
  std::vector<std::string> command{
      "env",
      "TMPDIR=" + folder.string(),
      options_.nvcc,
      "-std=c++20",
      "-O3",
      "-DNDEBUG",
      "-Xcompiler=-fPIC,-fvisibility=hidden",
      fmt::format("-gencode=arch=compute_{0},code=sm_{0}", options_.cc)};
  if (options_.with_ptx) command.emplace_back("-gencode=arch=compute_80,code=compute_80");
  command.push_back("-I" + folder.string());
  for (const fs::path& include : options_.includes) command.push_back("-I" + include.string());
  return command;
}

// Hashes everything that the candidates share: the text of each included file, the compiler and its
// options.
Status Compiler::hash_sources(Deadline deadline, const Stop& stop) {
  const Scratch scratch{scratch_->path() / "sources"};
  const Point by_hand(space_->by_hand.begin(), space_->by_hand.end());
  if (Status status = write_sources(scratch.folder, by_hand); !status) return status;
  std::vector<std::string> list = command(scratch.folder);
  list.insert(list.end(), {"-MM", (scratch.folder / "candidate.cu").string()});
  const auto listed = run(list, deadline, stop);
  if (!listed) return listed.status();
  if (listed.value().end.status != 0)
    return {Code::kInvalidArgument,
            fmt::format("{}: does not compile: {}", options_.source.string(),
                        first_error(listed.value().output))};
  const auto without_scratch = [&](std::string word) {
    const std::string& name = scratch_->path().native();
    if (const auto at = word.find(name); at != std::string::npos) word.erase(at, name.size());
    return word;
  };
  std::string all = version_;
  for (const std::string& word : command("")) all += without_scratch(word) + "\n";
  std::istringstream words(listed.value().output);
  std::vector<std::string> files;
  for (std::string word; words >> word;) {
    const bool ours = word.find(scratch.folder.string()) != std::string::npos;
    if (word != "\\" && !word.ends_with(":") && !ours) files.push_back(word);
  }
  std::ranges::sort(files);
  for (const std::string& file : files) {
    all += without_scratch(file) + "\n";
    std::error_code error;
    if (!fs::is_regular_file(file, error)) continue;  // the make target, or a word of a warning
    const auto text = read_file(file);
    if (!text) return text.status();
    all += text.value();
  }
  sources_hash_ = hash(all);
  return Status::ok();
}

fs::path Compiler::entry(const Point& point) const {
  return options_.cache /
         hash(fmt::format("{} {} {}", sources_hash_, space_->rung, values_text(point)));
}

Compiled Compiler::compile(const Point& point, Deadline deadline, const Stop& stop) const {
  const fs::path base = entry(point);
  Compiled compiled = read_entry(base);
  if (compiled.cached) {
    if (compiled.outcome == Compiled::Outcome::kSpills) compiled.reason = "spills registers";
    return compiled;
  }
  const Scratch scratch{scratch_->path() / base.filename()};
  const auto failed = [&](Compiled::Outcome outcome, std::string reason) {
    compiled.outcome = outcome;
    compiled.reason = std::move(reason);
    return compiled;
  };
  if (Status status = write_sources(scratch.folder, point); !status)
    return failed(Compiled::Outcome::kFailed, status.message());
  const fs::path made = scratch.folder / "candidate.so";
  std::vector<std::string> compile = command(scratch.folder);
  compile.insert(compile.end(), {"-shared", "-cudart=shared", "-Xptxas=-v", "-o", made.string(),
                                 (scratch.folder / "candidate.cu").string()});
  const auto result = run(compile, deadline, stop);
  if (!result) return failed(Compiled::Outcome::kFailed, result.status().message());
  if (result.value().timed_out) return failed(Compiled::Outcome::kTimedOut, "not compiled in time");
  if (!result.value().ended) return failed(Compiled::Outcome::kStopped, "interrupted");
  const std::string& output = result.value().output;
  if (result.value().end.status != 0)
    return failed(Compiled::Outcome::kFailed, first_error(output));

  static_cast<Resources&>(compiled) = resources_in(output);
  const bool spills = compiled.spill_bytes > 0;
  // The report is written last; an entry exists once its report does.
  Status kept = Status::ok();
  if (!spills) {
    const auto library = read_file(made.string());
    kept = library ? keep(library.value(), base.string() + ".so") : library.status();
  }
  if (kept)
    kept = keep(fmt::format("{} {} {} {}\n", spills ? 1 : 0, compiled.registers,
                            compiled.spill_bytes, compiled.shared_bytes),
                base.string() + ".txt");
  if (!kept) return failed(Compiled::Outcome::kFailed, "cache: " + kept.message());
  if (spills) return failed(Compiled::Outcome::kSpills, "spills registers");
  compiled.outcome = Compiled::Outcome::kOk;
  compiled.library = base.string() + ".so";
  return compiled;
}

CompilePool::CompilePool(const Compiler& compiler, int threads, double limit_s, Deadline deadline,
                         Stop stop)
    : compiler_(compiler), limit_s_(limit_s), deadline_(deadline), stop_(std::move(stop)) {
  try {
    for (int i = 0; i < std::max(1, threads); ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // No more threads: uses those created so far, or compiles within next().
  }
}

CompilePool::~CompilePool() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  work_there_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CompilePool::submit(Point point) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(point));
  }
  ++under_way_;
  work_there_.notify_one();
}

std::optional<std::pair<Point, Compiled>> CompilePool::next() {
  if (under_way_ == 0) return std::nullopt;
  std::unique_lock lock(mutex_);
  if (threads_.empty()) compile_next(lock);
  result_there_.wait(lock, [this] { return !done_.empty(); });
  --under_way_;
  auto result = std::move(done_.front());
  done_.pop_front();
  return result;
}

void CompilePool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_there_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return;
    compile_next(lock);
  }
}

void CompilePool::compile_next(std::unique_lock<std::mutex>& lock) {
  const Stop stop = [this] {
    const std::scoped_lock inner(mutex_);
    return closing_ || (stop_ && stop_());
  };
  Point point = std::move(waiting_.front());
  waiting_.pop_front();
  lock.unlock();
  Compiled compiled = compiler_.compile(point, std::min(deadline_, in_seconds(limit_s_)), stop);
  lock.lock();
  done_.emplace_back(std::move(point), std::move(compiled));
  result_there_.notify_one();
}

}  // namespace ladder::tune
