// SPDX-License-Identifier: Apache-2.0
// Text descriptions of the machine's properties. An implausible value is left out, with the reason.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "host/limits.hpp"
#include "host/rates.hpp"

namespace ladder {

// "Intel Xeon, 8 threads, of which this process may use 4"
std::string processors_text(const std::optional<std::string>& name,
                            const host::Processors& processors);

// "15.6 GiB available"
std::string memory_text(std::optional<std::uint64_t> bytes);

// Rates per core.
std::string rates_text(const host::Rates& rates);

}  // namespace ladder
