// SPDX-License-Identifier: Apache-2.0
// A user's kernel, compiled and launched in a child process: the verb `run`, and `explain FILE.cu`.
#pragma once
#include <string>
#include <vector>

#include "analyse/user_kernel.hpp"
#include "report/installation.hpp"

namespace ladder::app {

struct RunOptions {
  std::string file, kernel, grid, block, shared = "0", needs = "true",
                                         arguments = analyse::UserKernel{}.arguments;
  std::string device = "auto", shape, explain_on = "h200", clock = "boost",
              source = source_folder();
  std::string library, verdict;  // used by the child process
  std::vector<std::string> against{"r05", "r10", "cublas_ieee"};
  double limit_s = 300;
  float beta = 0;
  bool no_explain = false, strict = false;
  bool only_explain = false, json = false;  // neither verified nor measured
};

// Both throw BadInput.
int run_user_kernel(const RunOptions& o);
int explain_file(const RunOptions& o);  // of the file's kernel, which need not be a matrix product

}  // namespace ladder::app
