// SPDX-License-Identifier: Apache-2.0
// Rows as JSON. docs/schema.md describes the format; kSchemaVersion is its version.
#pragma once
#include <ladder/status.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "report/environment.hpp"
#include "report/files.hpp"
#include "report/row.hpp"

namespace ladder {

constexpr const char* kSchemaName = "ladder-rows";
constexpr int kSchemaVersion = 3;
constexpr int kOldestSchemaVersion = 2;  // the oldest version that can be read

struct Document {
  Environment environment;
  std::vector<Row> rows;
};

std::string to_json(const Document& document);
// Escapes control characters in strings (printable()), because rows files may come from anywhere
// and their strings are printed on terminals. Errors (kIo): the text does not follow the schema;
// the message says what is wrong and contains `name`.
Result<Document> from_json(std::string_view text, const std::string& name);
Result<Document> read_document(const std::string& path);

}  // namespace ladder
