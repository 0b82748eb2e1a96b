// SPDX-License-Identifier: Apache-2.0
#include "report/atlas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "report/json_text.hpp"
#include "report/text.hpp"

namespace ladder {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kSchema = "ladder-atlas";

// The distinct keys of all rows, in order of first appearance.
template <class Key>
auto distinct(const Atlas& atlas, Key key) {
  std::vector<decltype(key(atlas.rows.front()))> found;
  for (const AtlasRow& row : atlas.rows) {
    if (std::ranges::find(found, key(row)) == found.end()) found.push_back(key(row));
  }
  return found;
}

const AtlasRow* find(const Atlas& atlas, const std::string& kernel, Distribution distribution,
                     const Problem& p) {
  for (const AtlasRow& row : atlas.rows) {
    if (row.kernel == kernel && row.distribution == distribution && row.problem == p) return &row;
  }
  return nullptr;
}

}  // namespace

std::string to_json(const Atlas& atlas) {
  Json rows = Json::array();
  for (const AtlasRow& r : atlas.rows) {
    rows.push_back({{"kernel", r.kernel},
                    {"precision", to_string(r.precision)},
                    {"distribution", to_string(r.distribution)},
                    {"m", r.problem.m},
                    {"n", r.problem.n},
                    {"k", r.problem.k},
                    {"normwise", r.errors.normwise},
                    {"componentwise", r.errors.componentwise},
                    {"median_relative", r.errors.median},
                    {"largest_relative", r.errors.largest},
                    {"ulps", r.errors.ulps},
                    {"not_finite", r.errors.not_finite},
                    {"chosen", r.chosen}});
  }
  const Json all{{"schema", kSchema},      {"version", 1},           {"date", atlas.date},
                 {"commit", atlas.commit}, {"device", atlas.device}, {"cublas", atlas.cublas},
                 {"rows", std::move(rows)}};
  std::string text = "{\n";
  for (const auto& [key, value] : all.items()) {
    if (key != "rows") text += fmt::format(" {}: {},\n", json_text(Json(key)), json_text(value));
  }
  text += " \"rows\": [\n";
  for (std::size_t i = 0; i < atlas.rows.size(); ++i) {
    text += "  " + json_text(all["rows"][i]) + (i + 1 < atlas.rows.size() ? ",\n" : "\n");
  }
  return text + " ]\n}\n";
}

Result<Atlas> atlas_from_json(const std::string& text) {
  try {
    const Json all = printable_json<Json>(text);
    if (all.at("schema") != kSchema) throw std::runtime_error("another schema");
    Atlas atlas{all.at("date"), all.at("commit"), all.at("device"), all.at("cublas"), {}};
    for (const Json& j : all.at("rows")) {
      AtlasRow r;
      r.kernel = j.at("kernel");
      r.precision = named(j.at("precision"), precisions());
      r.distribution = named(j.at("distribution"), distributions());
      r.problem = make_problem(j.at("m"), j.at("n"), j.at("k"));
      r.errors.normwise = j.at("normwise");
      r.errors.componentwise = j.at("componentwise");
      r.errors.median = j.at("median_relative");
      r.errors.largest =
          j.at("largest_relative").is_null() ? HUGE_VAL : j.at("largest_relative").get<double>();
      r.errors.ulps = j.at("ulps").get<decltype(r.errors.ulps)>();
      r.errors.not_finite = j.at("not_finite");
      r.chosen = j.at("chosen");
      atlas.rows.push_back(std::move(r));
    }
    return atlas;
  } catch (const std::exception& error) {
    return Status(Code::kInvalidArgument,
                  std::string("not a file of the accuracy atlas: ") + error.what());
  }
}

namespace {

// Reports where a guarded product is less accurate than cuBLAS's SGEMM, and by how much. The bounds
// allow this.
std::string above_sgemm(const Atlas& atlas) {
  std::string text;
  bool compared = false;
  for (const AtlasRow& row : atlas.rows) {
    if (row.precision != Precision::kAuto) continue;
    const AtlasRow* sgemm = find(atlas, "cublas_ieee", row.distribution, row.problem);
    if (sgemm == nullptr) continue;
    compared = true;
    const AtlasErrors &ours = row.errors, &theirs = sgemm->errors;
    if (ours.normwise <= theirs.normwise && ours.componentwise <= theirs.componentwise) continue;
    text +=
        fmt::format("- {}, {}, {}: {:.2f} and {:.2f} of cuBLAS's error\n",
                    markdown_text(row.kernel), to_string(row.problem), to_string(row.distribution),
                    ours.normwise / theirs.normwise, ours.componentwise / theirs.componentwise);
  }
  if (!compared) return "";
  if (text.empty()) return "\nNowhere here is a guarded product further off than cuBLAS's SGEMM.\n";
  return "\nFurther off than cuBLAS's SGEMM, normwise or componentwise:\n\n" + text;
}

}  // namespace

std::string atlas_markdown(const Atlas& atlas) {
  std::string text =
      fmt::format("{}. Normwise / componentwise error.\n",
                  markdown_text(fmt::format("{}, cuBLAS {}, {}, commit {}", atlas.device,
                                            atlas.cublas, atlas.date, atlas.commit)));
  const auto kernels = distinct(atlas, [](const AtlasRow& r) { return r.kernel; });
  for (const Problem& p : distinct(atlas, [](const AtlasRow& r) { return r.problem; })) {
    text += fmt::format("\n**{}**\n\n| data |", to_string(p));
    for (const auto& kernel : kernels) text += fmt::format(" {} |", markdown_text(kernel));
    text += "\n|---|";
    for (std::size_t i = 0; i < kernels.size(); ++i) text += "---|";
    text += "\n";
    for (const Distribution distribution : distributions()) {
      std::string line = fmt::format("| {} |", to_string(distribution));
      bool any = false;
      for (const auto& kernel : kernels) {
        const AtlasRow* row = find(atlas, kernel, distribution, p);
        any |= row != nullptr;
        line += row == nullptr
                    ? " |"
                    : fmt::format(" {:.1e} / {:.1e}{} |", row->errors.normwise,
                                  row->errors.componentwise,
                                  row->chosen.empty() ? "" : " " + markdown_text(row->chosen));
      }
      if (any) text += line + "\n";
    }
  }
  return text + above_sgemm(atlas);
}

Result<Chart> atlas_chart(const Atlas& atlas) {
  if (atlas.rows.empty()) return Status(Code::kInvalidArgument, "no rows: nothing to draw");
  Problem deepest = atlas.rows.front().problem;
  for (const AtlasRow& row : atlas.rows) {
    if (row.problem.k > deepest.k) deepest = row.problem;
  }
  Json points = Json::array();
  std::string says = "Largest error relative to |A||B|.";
  for (const AtlasRow& row : atlas.rows) {
    if (row.problem != deepest || !(row.errors.componentwise > 0)) continue;
    const std::string about = fmt::format("{}, {}: {:.1e}", row.kernel, to_string(row.distribution),
                                          row.errors.componentwise);
    points.push_back({{"data", to_string(row.distribution)},
                      {"kernel", row.kernel},
                      {"error", row.errors.componentwise},
                      {"about", about}});
    says += " " + about + ".";
  }
  if (points.empty()) return Status(Code::kInvalidArgument, "no row has an error: nothing to draw");
  return make_chart("atlas", "Largest error over |A||B|",
                    fmt::format("{}, {}", to_string(deepest), atlas.device), says,
                    std::array{ChartData{"points", json_text(points)}});
}

}  // namespace ladder
