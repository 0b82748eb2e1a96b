// SPDX-License-Identifier: Apache-2.0
// Compiles a point of a search space to a shared library from the rung's own file with that one
// tile. Results are cached by a hash of all inputs.
#pragma once
#include <ladder/search.hpp>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "report/temporary.hpp"
#include "tune/process.hpp"
#include "tune/space.hpp"

namespace ladder::tune {

// The only exported symbol of a candidate's library, of type `const KernelInfo* ()`.
constexpr const char* kEntryPoint = "ladder_candidate";

struct CompilerOptions {
  std::string nvcc;                             // program; find_nvcc() if empty
  std::filesystem::path source;                 // the rung's file
  std::vector<std::filesystem::path> includes;  // folders
  int cc = 90;                                  // compute capability to compile machine code for
  bool with_ptx = false;                        // also embeds PTX, which the virtual GPU executes
  std::filesystem::path cache;                  // folder; open_cache()'s default if empty
};

// What ptxas reports: the maximum over the kernels of a file.
struct Resources {
  int registers = 0;  // per thread
  int spill_bytes = 0;
  int shared_bytes = 0;  // static, per block
};
Resources resources_in(const std::string& output);

struct Compiled : Resources {
  enum class Outcome { kOk, kSpills, kFailed, kTimedOut, kStopped };
  Outcome outcome = Outcome::kFailed;
  std::string reason;             // one line, if not ok
  std::filesystem::path library;  // if ok
  bool cached = false;
};

std::string find_nvcc();  // searches LADDER_NVCC, PATH, CUDA_HOME, /usr/local/cuda; "" if not found

// The first error in the compiler's output; the largest number that precedes `words` in it.
std::string first_error(const std::string& output);
int largest_before(std::string_view output, std::string_view words);

class Compiler {
 public:
  // Errors: kInvalidArgument (no nvcc, no such source file), kIo (see open_cache()).
  static Result<Compiler> open(const SearchSpace& space, CompilerOptions options, Deadline deadline,
                               const Stop& stop);
  // Thread-safe.
  Compiled compile(const Point& point, Deadline deadline, const Stop& stop) const;
  const std::string& version() const { return version_; }

 private:
  std::vector<std::string> command(const std::filesystem::path& folder) const;
  Status name_plainly();
  Status write_sources(const std::filesystem::path& folder, const Point& point) const;
  std::filesystem::path entry(const Point& point) const;
  Status hash_sources(Deadline deadline, const Stop& stop);

  const SearchSpace* space_ = nullptr;
  CompilerOptions options_;
  std::optional<Temporary> scratch_;
  std::string version_, sources_hash_;
};

// Compiles on several threads, or within next() if none can be started. Results are returned in
// order of completion.
class CompilePool {
 public:
  // Each compilation ends after `limit_s` seconds or at `deadline`, whichever is first.
  CompilePool(const Compiler& compiler, int threads, double limit_s, Deadline deadline, Stop stop);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  void submit(Point point);
  // Waits for the next result; empty if nothing is pending.
  std::optional<std::pair<Point, Compiled>> next();
  std::size_t under_way() const { return under_way_; }
  std::size_t threads() const { return std::max<std::size_t>(1, threads_.size()); }

 private:
  void work();
  void compile_next(std::unique_lock<std::mutex>& lock);

  const Compiler& compiler_;
  double limit_s_;
  Deadline deadline_;
  Stop stop_;
  std::mutex mutex_;
  std::condition_variable work_there_, result_there_;
  std::deque<Point> waiting_;
  std::deque<std::pair<Point, Compiled>> done_;
  std::size_t under_way_ = 0;  // accessed only by the thread that calls submit() and next()
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ladder::tune
