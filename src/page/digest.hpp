// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) in the form by which a content security policy identifies a script or a
// style.
#pragma once
#include <string>
#include <string_view>

namespace ladder::page {

std::string sha256_base64(std::string_view text);

}  // namespace ladder::page
