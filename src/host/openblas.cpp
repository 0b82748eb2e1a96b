// SPDX-License-Identifier: Apache-2.0
#include "host/openblas.hpp"

#include <cstdlib>

#include "host/shared_library.hpp"

namespace ladder::host {

static OpenBlas load(bool& found) {
  // OpenBLAS 0.3.21 takes Zen 4, Emerald Rapids and later cores for ones without AVX-512.
  if (has_avx512()) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  SharedLibrary library("libopenblas.so.0");
  OpenBlas out;
  out.sgemm = library.get<OpenBlas::Sgemm>("cblas_sgemm");
  out.dgemm = library.get<OpenBlas::Dgemm>("cblas_dgemm");
  out.set_num_threads = library.get<void(int)>("openblas_set_num_threads");
  out.get_num_procs = library.get<int()>("openblas_get_num_procs");
  auto* config = library.get<char*()>("openblas_get_config");
  auto* core = library.get<char*()>("openblas_get_corename");
  found = library.found();
  if (!found) return out;
  out.config = config();
  out.core = core();
  out.core_was_given = std::getenv("OPENBLAS_CORETYPE") != nullptr;
  return out;
}

const OpenBlas* openblas() {
  static bool found = false;
  static const OpenBlas library = load(found);
  return found ? &library : nullptr;
}

}  // namespace ladder::host
