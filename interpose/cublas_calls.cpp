// SPDX-License-Identifier: Apache-2.0
#include "cublas_calls.hpp"

#include <cuda_runtime_api.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "problem/number.hpp"

namespace ladder::interpose {
namespace {

// "64", "64-", "-64", "1-64" or "*".
struct Range {
  std::int64_t from = 0, to = INT64_MAX;
  bool holds(std::int64_t x) const { return from <= x && x <= to; }
};

bool parse(const std::string& text, Range& range) {
  range = {};
  if (text == "*") return true;
  const std::size_t dash = text.find('-');
  const auto number = [](const std::string& digits, std::int64_t& value) {
    if (digits.empty()) return true;
    const auto parsed = parse_number<std::int64_t>(digits);
    value = parsed.value_or(-1);
    return value >= 0;
  };
  if (text.empty() || text == "-" || !number(text.substr(0, dash), range.from)) return false;
  if (dash != std::string::npos) return number(text.substr(dash + 1), range.to);
  range.to = range.from;
  return true;
}

// A precision by name; DEFAULT stands for "forward".
bool parse(const std::string& text, ladder_precision& precision) {
  precision = LADDER_PRECISION_DEFAULT;
  if (text == "forward") return true;
  for (int value = LADDER_PRECISION_IEEE; value <= LADDER_PRECISION_FP16X3; ++value) {
    precision = static_cast<ladder_precision>(value);
    if (text == ladder_precision_string(precision)) return true;
  }
  return false;
}

struct Rule {
  Range m, n, k;
  ladder_precision precision;
};

// The program's environment, read once. What is wrong is said once, and every call is forwarded.
class Settings {
 public:
  Settings() {
    if (const char* text = std::getenv("LADDER_CUBLAS_PRECISION");
        text != nullptr && !parse(text, precision_))
      refuse("LADDER_CUBLAS_PRECISION: '" + std::string(text) +
             "' is neither a precision nor forward");
    if (const char* text = std::getenv("LADDER_CUBLAS_TAKE"); text != nullptr) {
      takes_all_ = std::string(text) == "all";
      if (!takes_all_ && std::string(text) != "faster")
        refuse("LADDER_CUBLAS_TAKE: '" + std::string(text) + "' is neither faster nor all");
    }
    if (const char* text = std::getenv("LADDER_CUBLAS_WORKSPACE"); text != nullptr) {
      has_own_workspace_ = std::string(text) == "own";
      if (!has_own_workspace_ && std::string(text) != "program")
        refuse("LADDER_CUBLAS_WORKSPACE: '" + std::string(text) + "' is neither program nor own");
    }
    if (const char* path = std::getenv("LADDER_CUBLAS_RULES")) read(path);
  }

  const std::string& wrong() const { return wrong_; }
  bool takes_all() const { return takes_all_; }
  bool has_own_workspace() const { return has_own_workspace_; }
  ladder_precision precision_for(const ladder_gemm_call& call) const {
    for (const Rule& rule : rules_) {
      if (rule.m.holds(call.m) && rule.n.holds(call.n) && rule.k.holds(call.k))
        return rule.precision;
    }
    return precision_;
  }

 private:
  void refuse(const std::string& why) {
    if (wrong_.empty())
      std::fprintf(stderr, "libladder_cublas: %s; every call is forwarded\n", why.c_str());
    wrong_ = why;
  }
  // Lines "M N K PRECISION"; the first that fits counts.
  void read(const char* path) {
    std::ifstream file(path);
    if (!file) return refuse("LADDER_CUBLAS_RULES: " + std::string(path) + " cannot be read");
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      line = line.substr(0, line.find('#'));
      std::istringstream words(line);
      std::string m, n, k, precision, rest;
      if (!(words >> m)) continue;
      Rule rule{};
      if (!(words >> n >> k >> precision) || words >> rest || !parse(m, rule.m) ||
          !parse(n, rule.n) || !parse(k, rule.k) || !parse(precision, rule.precision))
        return refuse(std::string(path) + ":" + std::to_string(number) +
                      ": must be 'M N K PRECISION', each size *, a number or a range as 1-64");
      rules_.push_back(rule);
    }
  }

  ladder_precision precision_ = LADDER_PRECISION_AUTO;
  bool takes_all_ = false, has_own_workspace_ = false;
  std::vector<Rule> rules_;
  std::string wrong_;
};

const Settings& settings() {
  static const Settings read;
  return read;
}

// Counts of calls by function, decision and reason; printed at exit to the file that
// LADDER_CUBLAS_REPORT names, "-" for stderr.
class Report {
 public:
  void add(const char* function, const std::string& decision, const std::string& why) {
    const std::lock_guard lock(mutex_);
    ++rows_[{function, decision, why}];
  }
  ~Report() {
    const char* const path = std::getenv("LADDER_CUBLAS_REPORT");
    if (path == nullptr) return;
    std::FILE* const file = std::string(path) == "-" ? stderr : std::fopen(path, "w");
    if (file == nullptr) {
      std::fprintf(stderr, "libladder_cublas: LADDER_CUBLAS_REPORT: %s: %s\n", path,
                   std::strerror(errno));
      return;
    }
    std::fprintf(file, "%-32s %-10s %10s  %s\n", "function", "decision", "calls", "why");
    for (const auto& [row, count] : rows_) {
      const auto& [function, decision, why] = row;
      std::fprintf(file, "%-32s %-10s %10lld  %s\n", function.c_str(), decision.c_str(), count,
                   why.c_str());
    }
    if (file != stderr) std::fclose(file);
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<std::string, std::string, std::string>, long long> rows_;
};

Report& report() {
  static Report one;
  return one;
}

// What belongs to a handle of cuBLAS on a device.
struct Owned {
  ~Owned() { static_cast<void>(ladder_destroy(handle)); }
  std::mutex mutex;  // settings and the call that they are for are one step
  ladder_handle handle = nullptr;
  bool is_hopper = false;
  Workspace set;  // what the handle of libladder has
};

thread_local int forwarding = 0;

std::mutex owned_mutex;
std::map<std::pair<const void*, int>, std::shared_ptr<Owned>> owned;
std::map<const void*, Workspace> workspaces;

// Null with `why` if there is none.
std::shared_ptr<Owned> owned_by(const void* owner, std::string& why) {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) {
    why = cudaGetErrorString(error);
    return nullptr;
  }
  const std::lock_guard lock(owned_mutex);
  std::shared_ptr<Owned>& found = owned[{owner, device}];
  if (found != nullptr) return found;
  auto made = std::make_shared<Owned>();
  if (ladder_create(&made->handle) != LADDER_STATUS_OK) {
    why = ladder_last_error();
    return nullptr;
  }
  int major = 0, minor = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess)
    made->is_hopper = major == 9 && minor == 0;
  found = std::move(made);
  return found;
}

// Whether the call, which a handle of libladder computes, is left to cuBLAS nevertheless. Where the
// program's workspace decides, the precision becomes the one that is computed, and `why` says so.
bool is_slower(Owned& own, ladder_gemm_call& call, std::string& why) {
  if (settings().takes_all()) return false;
  if (!own.is_hopper) {
    why = "device: libladder has only its plain kernel for it (LADDER_CUBLAS_TAKE=all takes it)";
    return true;
  }
  if (call.batch_count == 1 && call.a_pointers == nullptr && own.set.memory == nullptr)
    return false;
  ladder_gemm_plan plan;
  plan.struct_size = sizeof plan;
  if (ladder_plan(own.handle, &call, &plan) != LADDER_STATUS_OK) return false;  // the call says why
  if (std::string(plan.kernel) != "ladder_strided") {
    const std::string reason = plan.why;
    if (plan.precision != call.precision && reason.find("workspace") != std::string::npos) {
      call.precision = plan.precision;
      why = reason;
    }
    return false;
  }
  why = "libladder has only its plain kernel for it (LADDER_CUBLAS_TAKE=all takes it): " +
        std::string(plan.why);
  return true;
}

ladder_status prepare(Owned& own, const Product& product) {
  ladder_status status = ladder_set_stream(own.handle, product.stream);
  if (status == LADDER_STATUS_OK)
    status = ladder_set_pointer_mode(own.handle, product.pointer_mode);
  const Workspace wanted = settings().has_own_workspace()
                               ? Workspace{}
                               : Workspace{product.workspace, product.workspace_bytes};
  const bool same = own.set.memory == wanted.memory && own.set.bytes == wanted.bytes;
  if (status != LADDER_STATUS_OK || same) return status;
  status = ladder_set_workspace(own.handle, wanted.memory, wanted.bytes);
  if (status == LADDER_STATUS_OK) own.set = wanted;
  return status;
}

}  // namespace

Product::Product(const char* name) : function(name) {
  ladder_gemm_call_init(&call);
  call.layout = LADDER_COL_MAJOR;
}

Forwarding::Forwarding() { ++forwarding; }
Forwarding::~Forwarding() { --forwarding; }

void forwarded(const char* function, const std::string& why) {
  if (forwarding > 0) return;
  report().add(function, "forwarded", why);
}

std::optional<cublasStatus_t> attempt(const void* owner, const Product& product) {
  const auto forward = [&](const std::string& why) {
    forwarded(product.function, why);
    return std::optional<cublasStatus_t>();
  };
  if (forwarding > 0) return std::nullopt;
  if (!settings().wrong().empty()) return forward(settings().wrong());
  ladder_gemm_call call = product.call;
  call.precision = settings().precision_for(call);
  if (call.precision == LADDER_PRECISION_DEFAULT) return forward("a rule forwards it");
  if (product.is_pedantic) call.precision = LADDER_PRECISION_IEEE;
  std::string why;
  const std::shared_ptr<Owned> own = owned_by(owner, why);
  if (own == nullptr) return forward(why);
  const std::lock_guard lock(own->mutex);
  ladder_status status = prepare(*own, product);
  if (status == LADDER_STATUS_OK && is_slower(*own, call, why)) return forward(why);
  if (status == LADDER_STATUS_OK) status = ladder_gemm(own->handle, &call);
  switch (status) {
    case LADDER_STATUS_OK:
      report().add(product.function, ladder_precision_string(call.precision), why);
      return CUBLAS_STATUS_SUCCESS;
    case LADDER_STATUS_EXECUTION_FAILED:
    case LADDER_STATUS_INTERNAL:
      report().add(product.function, "failed", ladder_last_error());
      return CUBLAS_STATUS_EXECUTION_FAILED;
    default: return forward(ladder_last_error());
  }
}

void forget(const void* owner) {
  std::vector<std::shared_ptr<Owned>> gone;  // destroyed after the lock
  const std::lock_guard lock(owned_mutex);
  for (auto at = owned.begin(); at != owned.end();) {
    if (at->first.first != owner) {
      ++at;
      continue;
    }
    gone.push_back(std::move(at->second));
    at = owned.erase(at);
  }
  workspaces.erase(owner);
}

void keep_workspace(const void* owner, const Workspace& workspace) {
  const std::lock_guard lock(owned_mutex);
  if (workspace.memory == nullptr) {
    workspaces.erase(owner);
  } else {
    workspaces[owner] = workspace;
  }
}

Workspace workspace_of(const void* owner) {
  const std::lock_guard lock(owned_mutex);
  const auto found = workspaces.find(owner);
  return found == workspaces.end() ? Workspace{} : found->second;
}

void* next_address(const char* name, const char* library) {
  if (void* const found = dlsym(RTLD_NEXT, name)) return found;
  const std::string file = library;
  for (const char* const version : {".13", ".12", ""}) {
    // what is loaded already, in whatever scope; it is not closed
    if (void* const at = dlopen((file + version).c_str(), RTLD_LAZY | RTLD_NOLOAD))
      return dlsym(at, name);
  }
  void* const at = dlopen((file + ".13").c_str(), RTLD_LAZY);
  return at == nullptr ? nullptr : dlsym(at, name);
}

}  // namespace ladder::interpose
