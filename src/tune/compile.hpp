// SPDX-License-Identifier: Apache-2.0
// A point of a search space becomes a shared library: the rung's own file, compiled with that one
// tile. What was compiled once is found again by the content of everything it was made from.
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

// The one symbol of a candidate's library, of type `const KernelInfo* ()`.
constexpr const char* kEntryPoint = "ladder_candidate";

struct CompilerOptions {
  std::string nvcc;                             // program; find_nvcc() where empty
  std::filesystem::path source;                 // the rung's file
  std::vector<std::filesystem::path> includes;  // folders
  int cc = 90;                                  // compute capability to compile machine code for
  bool with_ptx = false;                        // and PTX, which the virtual GPU executes
  std::filesystem::path cache;                  // folder; open_cache() says which where empty
};

struct Compiled {
  enum class Outcome { kOk, kSpills, kFailed, kTimedOut, kStopped };
  Outcome outcome = Outcome::kFailed;
  std::string reason;             // one line where not ok
  std::filesystem::path library;  // where ok
  int registers = 0;              // a thread, of the kernel that takes most, as ptxas reports it
  int spill_bytes = 0;
  int shared_bytes = 0;  // static, a block
  bool cached = false;
};

std::string find_nvcc();  // LADDER_NVCC, PATH, CUDA_HOME, /usr/local/cuda; "" if nowhere

// Of what the compiler said: the first line that says what is wrong, and the largest number that
// stands before `words`.
std::string first_error(const std::string& output);
int largest_before(std::string_view output, std::string_view words);

class Compiler {
 public:
  // Errors: kInvalidArgument (no nvcc, no such source), kIo (as open_cache).
  static Result<Compiler> open(const SearchSpace& space, CompilerOptions options, Deadline deadline,
                               const Stop& stop);
  // From any thread.
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

// Compiles on several threads, or within next() where none can be started; what is done comes out
// in the order it got done.
class CompilePool {
 public:
  // None takes longer than `limit_s`, none goes on after `deadline`.
  CompilePool(const Compiler& compiler, int threads, double limit_s, Deadline deadline, Stop stop);
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  void submit(Point point);
  // Waits for the next; none if nothing is under way.
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
  std::size_t under_way_ = 0;  // of the one thread that submits and takes
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ladder::tune
