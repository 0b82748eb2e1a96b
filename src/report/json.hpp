// SPDX-License-Identifier: Apache-2.0
// Rows as JSON: docs/schema.md is the format's description, kSchemaVersion its number.
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
constexpr int kSchemaVersion = 2;
constexpr int kOldestSchemaVersion = 1;  // that is read

struct Document {
  Environment environment;
  std::vector<Row> rows;
};

std::string to_json(const Document& document);
// Control characters in its words are written out (printable): rows files come from anywhere, and
// their words go to terminals. Errors (kIo): not this schema, with what is wrong. `name` stands in
// the message.
Result<Document> from_json(std::string_view text, const std::string& name);
Result<Document> read_document(const std::string& path);

}  // namespace ladder
