// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>

#include "report/terminal.hpp"
#include "sample_rows.hpp"

namespace ladder {
namespace {

TEST(Figure, HasThreeDigits) {
  EXPECT_EQ(figure(std::nullopt), "-");
  EXPECT_EQ(figure(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(figure(0.0), "0");
  EXPECT_EQ(figure(50.34), "50.3");
  EXPECT_EQ(figure(371.2), "371");
  EXPECT_EQ(figure(6249.0), "6249");
  EXPECT_EQ(figure(9.1), "9.10");
  EXPECT_EQ(figure(0.4991), "0.499");
  EXPECT_EQ(figure(1.25e-6), "1.25e-06");
}

TEST(Markdown, HasATableAKindAndNamesTheMachine) {
  const Document document = sample_document();
  const std::string text = markdown(std::span(&document, 1));
  EXPECT_NE(text.find("| kernel | idea | shape | verdict |"), std::string::npos) << text;
  EXPECT_NE(text.find("| r02_coalesced | an idea &amp; &lt;more&gt; | 4096x4096x4096 | passed | "
                      "1.0e-06 | 2.0e-07 | 22.0 | 1.0 | 6.25 |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("NVIDIA H200, driver 580.65, CUDA 13.0, cuBLAS 13.1.0; 2026-11-21, ladder "
                      "0.1.0 (0123456789ab)."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("counted, not timed"), std::string::npos);
}

TEST(Markdown, ShowsNoRateOfAFailedRowAndNoRefusedRow) {
  Document document = sample_document();
  document.rows[0].verdict.outcome = Outcome::kWrongValue;
  document.rows[1].verdict.outcome = Outcome::kRefused;
  const std::string text = markdown(std::span(&document, 1));
  EXPECT_NE(text.find("wrong_value"), std::string::npos);
  EXPECT_EQ(text.find("6.25"), std::string::npos) << text;
  EXPECT_EQ(text.find("| cublas_ieee |"), std::string::npos) << text;
}

TEST(Splice, ReplacesBetweenMarkersOnly) {
  const std::string text =
      "a\n<!-- ladder:x -->\nold\n<!-- /ladder:x -->\nz\n<!-- ladder:y --><!-- /ladder:y -->";
  const auto once = splice(text, "x", "new\n");
  ASSERT_TRUE(once);
  EXPECT_EQ(
      once.value(),
      "a\n<!-- ladder:x -->\nnew\n<!-- /ladder:x -->\nz\n<!-- ladder:y --><!-- /ladder:y -->");
  EXPECT_EQ(splice(once.value(), "x", "new\n").value(), once.value());
  EXPECT_EQ(splice(text, "q", "new").status().message(), "no marker <!-- ladder:q -->");
  EXPECT_FALSE(splice("<!-- /ladder:x --><!-- ladder:x -->", "x", "new"));
}

std::string text_of(std::FILE* file) {
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  const std::size_t read = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  text.resize(read);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string printed(const std::vector<Row>& rows, TerminalStyle style) {
  std::FILE* file = std::tmpfile();
  {
    TablePrinter printer(file, file, style);
    for (const Row& row : rows) {
      printer.progress("timing " + row.kernel);
      printer.row(row);
    }
  }
  return text_of(file);
}

TEST(Terminal, PlainLinesHaveNoControlCharacters) {
  const std::string text = printed(sample_document().rows, {});
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find("timing"), std::string::npos);
  EXPECT_NE(text.find("% cuBLAS"), std::string::npos) << text;
  EXPECT_NE(text.find("roofline"), std::string::npos) << text;
}

TEST(Terminal, ColumnsMakeRoomForWhatIsToCome) {
  std::vector<Row> rows = {sample_document().rows[0], sample_document().rows[0]};
  rows[1].kernel = "r15_warp_specialized_bf16_f32";
  std::FILE* file = std::tmpfile();
  {
    TablePrinter printer(file, file, {});
    for (const Row& row : rows) printer.expect(row);
    for (const Row& row : rows) printer.row(row);
  }
  const std::vector<std::string> lines = lines_of(text_of(file));
  ASSERT_GE(lines.size(), 4U);
  const std::size_t verdict = lines[1].find("verdict");
  EXPECT_EQ(lines[2].find("passed"), verdict);
  EXPECT_EQ(lines[3].find("passed"), verdict);
}

TEST(Terminal, ColumnsAlign) {
  const std::string text = printed(sample_document().rows, {});
  const std::vector<std::string> lines = lines_of(text);
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[1].find("TFLOP/s") + 7, lines[2].find("6.25") + 4) << text;
  EXPECT_EQ(lines[1].find("verdict"), lines[2].find("passed")) << text;
}

TEST(Terminal, ProgressIsOverwrittenWhereThereIsATerminal) {
  const std::string text = printed(sample_document().rows, {true, true});
  EXPECT_NE(text.find("\r\033[Ktiming r02_coalesced"), std::string::npos);
  EXPECT_NE(text.find("\033[32mpassed"), std::string::npos);
}

TEST(Terminal, AFailedRowSaysWhyAndARefusedOneToo) {
  std::vector<Row> rows = sample_document().rows;
  rows[0].verdict.outcome = Outcome::kUnwritten;
  rows[0].verdict.reason = "shape: C(3,4) was never written";
  rows[1].verdict.outcome = Outcome::kRefused;
  rows[1].note = "not run: cuBLAS is not executed on the virtual GPU";
  const std::string text = printed(rows, {});
  EXPECT_NE(text.find("unwritten"), std::string::npos);
  EXPECT_NE(text.find("C(3,4) was never written"), std::string::npos);
  EXPECT_NE(text.find("refused  not run: cuBLAS is not executed"), std::string::npos) << text;
}

}  // namespace
}  // namespace ladder
