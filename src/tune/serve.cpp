// SPDX-License-Identifier: Apache-2.0
// The worker side of worker.hpp.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "measure/measure.hpp"
#include "measure/operands.hpp"
#include "measure/timer.hpp"
#include "operands/virtual_gpu.hpp"
#include "report/files.hpp"
#include "tune/compile.hpp"
#include "tune/worker.hpp"
#include "verify/verify.hpp"

namespace ladder::tune {
namespace {

using Json = nlohmann::json;

// A candidate's library, loaded.
class Library {
 public:
  static Result<Library> open(const std::string& path) {
    Library library;
    library.handle_.reset(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
    const char* why = ::dlerror();
    if (library.handle_ == nullptr) return Status(Code::kIo, why == nullptr ? path : why);
    const auto entry =
        reinterpret_cast<const KernelInfo* (*)()>(::dlsym(library.handle_.get(), kEntryPoint));
    if (entry == nullptr) return Status(Code::kIo, path + ": no " + kEntryPoint);
    library.kernel_ = entry();
    return library;
  }
  const KernelInfo& kernel() const { return *kernel_; }

 private:
  struct Close {
    void operator()(void* handle) const { (void)::dlclose(handle); }
  };
  std::unique_ptr<void, Close> handle_;
  const KernelInfo* kernel_ = nullptr;
};

// Small and fast, but with whole tiles and ragged edges, both kinds of alignment, alpha and beta.
std::vector<Case> screening_cases() {
  Problem ragged = make_problem(131, 139, 67, 2, -1);
  ragged.lda += 3;
  ragged.ldc += 1;
  return {{"screening, aligned", make_problem(260, 264, 40), {Values::kIntegers, 11}},
          {"screening, ragged", ragged, {Values::kIntegers, 12}},
          {"screening, uniform", make_problem(64, 72, 64), {Values::kUniform, 13}}};
}

class Server {
 public:
  Server(const Device& device, const Json& assignment)
      : device_(device),
        problem_(make_problem(assignment.at("m").get<std::int64_t>(),
                              assignment.at("n").get<std::int64_t>(),
                              assignment.at("k").get<std::int64_t>())),
        seed_(assignment.at("seed").get<std::uint64_t>()) {}

  Json answer(const Json& request) {
    std::vector<Library> libraries;
    for (const Json& path : request.at("libraries")) {
      auto library = Library::open(path.get<std::string>());
      if (!library) return rejected(library.status().message());
      libraries.push_back(std::move(library).value());
    }
    const std::string what = request.at("do").get<std::string>();
    if (what == "rivals") return rivals(libraries, request.at("seconds").get<double>());
    const KernelInfo& kernel = libraries.at(0).kernel();
    if (what == "verify") {
      std::vector<Case> cases = make_battery(Battery::kQuick, seed_);
      if (!virtual_gpu::active()) {
        for (Case& which : cases_of(problem_, seed_)) cases.push_back(std::move(which));
      }
      return proved(kernel, cases);
    }
    Json proof = proved(kernel, screening_cases());
    if (!proof.at("passed").get<bool>()) return proof;
    if (Status status = accepts(kernel, problem_, device_); !status)
      return rejected(status.message());
    return virtual_gpu::active() ? counted(kernel)
                                 : timed(kernel, request.at("rounds").get<int>(),
                                         request.at("bail_ms").get<double>());
  }

 private:
  static Json rejected(const std::string& reason) {
    return {{"passed", false}, {"reason", reason}};
  }

  Json proved(const KernelInfo& kernel, const std::vector<Case>& cases) {
    const Verdict verdict = ladder::verify(kernel, cases, device_, VerifyOptions{}, references_);
    if (verdict.ok()) return {{"passed", true}};
    return rejected(std::string(to_string(verdict.outcome)) + ": " + verdict.reason);
  }

  Json counted(const KernelInfo& kernel) {
    const auto counters = count(kernel, problem_, device_, seed_);
    if (!counters) return rejected(counters.status().message());
    return {{"passed", true}, {"counters", virtual_gpu::counters_json()}};
  }

  Status prepare(Place place) {
    if (timer_ != nullptr) return Status::ok();
    const auto images = make_images(problem_, {Values::kUniform, seed_}, Precision::kIeee);
    if (!images) return images.status();
    auto operands = OperandSet::make(place, problem_, images.value());
    if (!operands) return operands.status();
    auto timer = Timer::make(place);
    if (!timer) return timer.status();
    operands_ = std::move(operands).value();
    timer_ = std::move(timer).value();
    return Status::ok();
  }

  Json timed(const KernelInfo& kernel, int rounds, double bail_ms) {
    if (Status status = prepare(kernel.place); !status) return rejected(status.message());
    const Launch launch = [&](Stream stream) {
      return kernel.launch(problem_, operands_->operands(), stream);
    };
    auto first = timer_->time({launch});
    if (!first) return rejected(first.status().message());
    // The first launch also loads the code, so a slow one is repeated once.
    if (bail_ms > 0 && first.value().front() > bail_ms) first = timer_->time({launch});
    if (!first) return rejected(first.status().message());
    if (bail_ms > 0 && first.value().front() > bail_ms)
      return {{"passed", true}, {"samples", {first.value()}}, {"bailed_out", true}};
    const auto times = timer_->time(std::vector<Launch>(static_cast<std::size_t>(rounds), launch));
    if (!times) return rejected(times.status().message());
    return {{"passed", true}, {"samples", {times.value()}}};
  }

  Json rivals(const std::vector<Library>& libraries, double seconds) {
    std::vector<const KernelInfo*> kernels;
    kernels.reserve(libraries.size());
    for (const Library& library : libraries) kernels.push_back(&library.kernel());
    MeasureOptions options;
    options.seed = seed_;
    options.budget_s = seconds / static_cast<double>(kernels.size());
    options.warmup_s = std::min(options.warmup_s, seconds / 4);
    // no early end: more rounds make the comparison of the candidates more certain
    options.noise = 0;
    const auto measured = measure(kernels, problem_, device_, options);
    if (!measured) return rejected(measured.status().message());
    Json samples = Json::array();
    for (const Measurement& one : measured.value()) samples.push_back(one.samples_ms);
    return {{"passed", true}, {"samples", samples}};
  }

  const Device& device_;
  Problem problem_;
  std::uint64_t seed_;
  ReferenceStore references_;
  std::optional<OperandSet> operands_;
  std::unique_ptr<Timer> timer_;
};

bool read_line(int from, std::string& pending, std::string& line) {
  while (true) {
    if (const auto end = pending.find('\n'); end != std::string::npos) {
      line = pending.substr(0, end);
      pending.erase(0, end + 1);
      return true;
    }
    std::array<char, 4096> block{};
    const ssize_t bytes = ::read(from, block.data(), block.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    pending.append(block.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace

int serve(int in, int out, const Device& device) {
  std::string pending;
  std::string line;
  if (!read_line(in, pending, line)) return 0;
  Server server(device, Json::parse(line));
  while (read_line(in, pending, line)) {
    Json answer = server.answer(Json::parse(line));
    // After a fault the CUDA context of this process is unusable: exit, and a new worker takes
    // over.
    const bool last = device.has_cuda && !synchronize();
    answer["last"] = last;
    const std::string text = answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (!write_all(out, text) || last) return 0;
  }
  return 0;
}

}  // namespace ladder::tune
