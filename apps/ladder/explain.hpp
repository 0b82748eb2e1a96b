// SPDX-License-Identifier: Apache-2.0
// Shared by the analysing verbs: the selected machine, the rows measured on it, and the tables of
// predictions against them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "analyse/explanation.hpp"
#include "report/json.hpp"

namespace ladder::app {

// `clock` is "boost", "base" or a number of MHz. Throws BadInput.
analyse::Machine selected_machine(const std::string& device, const std::string& clock,
                                  const char* argument = "--device");

// Returns the rows in `path`. If `path` is empty, returns the checkout's rows for this machine, if
// any. Throws BadInput.
std::optional<Document> measured_rows(const std::string& path, const analyse::Machine& machine,
                                      const std::string& source);
// Returns the verified row of this kernel and shape on this machine.
std::optional<analyse::Measured> measured_of(const std::optional<Document>& document,
                                             std::string_view kernel, const Problem& problem,
                                             const analyse::Machine& machine);

// Prints an explanation of a CUDA or CPU rung.
template <class Explanation>
void print_explanation(const Explanation& e, bool json) {
  if (json) return fmt::print("{}", to_json(e));
  for (const std::string& line : to_text(e)) fmt::print("{}\n", line);
}

// Prints the tables of `ladder explain --accuracy`, or puts them between the marks of the file
// `into`. Returns the exit status.
int print_accuracy(const std::vector<analyse::Explanation>& all, const analyse::Machine& machine,
                   const std::string& into);

}  // namespace ladder::app
