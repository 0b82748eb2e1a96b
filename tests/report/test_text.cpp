// SPDX-License-Identifier: Apache-2.0
#include "report/text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "problem/number.hpp"
#include "report/json.hpp"
#include "report/json_text.hpp"
#include "sample_rows.hpp"

namespace ladder {
namespace {

TEST(Printable, WritesOutWhatMovesTheCursor) {
  EXPECT_EQ(printable("r01_naive █▏ Ü"), "r01_naive █▏ Ü");
  EXPECT_EQ(printable("a\033[31m\r\n\tb\177"), "a\\x1b[31m\\x0d\\x0a\\x09b\\x7f");
  EXPECT_EQ(printable("a\nb\t", "\n"), "a\nb\\x09");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m");  // U+009B, a terminal's CSI
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a\\xe2\\x80\\xae"
            "b");  // U+202E reverses the direction
  EXPECT_EQ(printable("\xFF\xC0\x80\xE2\x82"), "\\xff\\xc0\\x80\\xe2\\x82");  // not UTF-8
}

TEST(MarkdownText, HasNoMarkup) {
  EXPECT_EQ(markdown_text("a|b\\<b>&\n[x](y) *z* `q`"),
            "a\\|b\\\\&lt;b&gt;&amp;\\\\x0a\\[x\\](y) \\*z\\* \\`q\\`");
  EXPECT_EQ(markdown_text("r01_naive, 4096x4096x4096"), "r01_naive, 4096x4096x4096");
}

TEST(CsvField, IsQuotedAndNoFormula) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("-1.5"), "-1.5");
}

TEST(Numbers, AreTheWholeText) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<double>("2.5e3"), 2500);
  for (const char* bad : {"", " 1", "1 ", "+1", "0x10", "1e3", "99999999999", "1,2", "--1"})
    EXPECT_FALSE(parse_number<int>(bad)) << bad;
  EXPECT_FALSE(parse_number<unsigned>("-1"));
  EXPECT_FALSE(parse_number<double>("1e999"));
}

TEST(JsonText, IsNeitherTooDeepNorThrowsAtBytes) {
  using Json = nlohmann::json;
  EXPECT_THROW((void)parse_json<Json>(std::string(100'000, '[') + std::string(100'000, ']')),
               std::exception);
  EXPECT_EQ(json_text(Json("a\xFFz")), "\"a\xEF\xBF\xBDz\"");
}

TEST(Rows, HaveNoControlCharactersInTheirWords) {
  Document document = sample_document();
  document.rows[0].kernel = "r01\033[2J";
  document.rows[0].device.name = "a\rb";
  const auto read = from_json(to_json(document), "rows");
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(read.value().rows[0].kernel, "r01\\x1b[2J");
  EXPECT_EQ(read.value().rows[0].device.name, "a\\x0db");
  const std::string deep = R"({"schema": "ladder-rows", "version": )" + std::string(200'000, '[');
  EXPECT_FALSE(from_json(deep + std::string(200'000, ']') + "}", "rows"));
}

TEST(ShellWord, IsQuotedUnlessAShellTakesItLiterally) {
  EXPECT_EQ(shell_word("results/h200/climb-4096.json"), "results/h200/climb-4096.json");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("~user"), "'~user'");
  EXPECT_EQ(shell_word("it's $(here)"), "'it'\\''s $(here)'");
}

}  // namespace
}  // namespace ladder
