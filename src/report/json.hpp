// SPDX-License-Identifier: Apache-2.0
// Rows as JSON: docs/schema.md is the format's description, kSchemaVersion its number.
#pragma once
#include <ladder/status.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "report/environment.hpp"
#include "report/row.hpp"

namespace ladder {

constexpr const char* kSchemaName = "ladder-rows";
constexpr int kSchemaVersion = 2;
constexpr int kOldestSchemaVersion = 1;  // that is read

struct Document {
  Environment environment;
  std::vector<Row> rows;
};

std::string to_json(const Document& document);
// Errors (kIo): not this schema, with what is wrong. `name` stands in the message.
Result<Document> from_json(std::string_view text, const std::string& name);
Result<Document> read_document(const std::string& path);

// Ok if write_atomic could write there now. Errors (kIo): no such folder, a folder, no permission, no regular
// file.
Status check_writable(const std::string& path);
// Replaces the file in one step (a temporary file in the same folder, renamed), so that a reader or a crash
// never sees half of it.
Status write_atomic(const std::string& path, std::string_view text);
Result<std::string> read_file(const std::string& path);

}  // namespace ladder
