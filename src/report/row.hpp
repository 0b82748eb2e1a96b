// SPDX-License-Identifier: Apache-2.0
// One kernel on one problem: the unit of every report. Rates exist only if the verdict is "passed".
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <optional>
#include <string>

#include "measure/count.hpp"
#include "measure/measure.hpp"
#include "verify/verdict.hpp"

namespace ladder {

// The library kernel that was timed in the same rounds.
struct BaselineTiming {
  std::string kernel;
  Measurement measurement;
};

struct Row {
  std::string kernel, rung, idea;
  Place place = Place::kCuda;
  Role role = Role::kRung;
  Precision precision = Precision::kIeee;
  Problem problem;
  Device device;  // where it ran
  Verdict verdict;
  Errors errors;  // of this problem with uniform inputs
  std::optional<Measurement> timing;
  std::optional<BaselineTiming> baseline;
  std::optional<Counters> counters;
  std::string note;  // the reason if something was not run; empty otherwise
};
Row make_row(const KernelInfo& kernel, const Problem& problem, const Device& device);

// Values derived from a row; each is absent if the row lacks its inputs.
struct Derived {
  std::optional<double> tflops;  // 2 m n k over the median time, if verified and without an alarm
  std::optional<double> percent_of_baseline;  // of the baseline's rate in the same rounds
  std::optional<double> percent_of_peak;      // of the device's FP32 peak on CUDA cores, ieee only
  std::optional<double> percent_of_peak_at_clock;  // of that peak at the clock that was measured
  std::optional<double> cycles;                    // median time in cycles of that clock
  std::optional<double> sm_clock_mhz, power_w, temperature_c;  // medians of the readings
  std::optional<double> sectors_per_load, sectors_per_store;   // 32-byte sectors per global request
  std::optional<double>
      bytes_requested;  // 32 bytes per sector of loads and stores, plus bytes of bulk copies
  std::optional<double> requested_over_least;  // against least_bytes(problem)
  std::optional<double> flop_per_byte;         // of the bytes requested
  // min(peak, flop_per_byte * bandwidth), assuming that no request hits a cache
  std::optional<double> roofline_tflops;
  std::optional<double>
      ceiling_tflops;             // the same with the least bytes: an upper bound for every kernel
  bool counts_estimated = false;  // a counter behind the request figures is an estimate
};
Derived derive(const Row& row);

// The metrics that Derived uses, with Nsight Compute's names.
constexpr const char* kLoadRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kLoadSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kStoreRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
constexpr const char* kStoreSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
constexpr const char* kBulkLoadBytes = "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum";
constexpr const char* kBulkStoreBytes = "vgpu__bulk_bytes_stored.sum";  // Nsight Compute has none

}  // namespace ladder
