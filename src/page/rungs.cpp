// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "page/diagrams.hpp"
#include "page/render.hpp"
#include "page/sections.hpp"
#include "report/table.hpp"

namespace ladder::page {
namespace {

using analyse::Explanation;

constexpr std::size_t kMostPictures = 4;  // per memory; the first kinds are those of the main loop

std::string figure_of(const std::string& picture, const std::string& caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", picture, escape(caption));
}

std::string accesses(const Explanation& e, analyse::Memory memory) {
  std::string html;
  std::vector<std::string> known;
  for (const analyse::LoopAccess& a : analyse::kinds_of_access(e)) {
    if (a.access.memory != memory || known.size() == kMostPictures) continue;
    const analyse::Cost c = analyse::cost_of(a.access);
    // Source lines with the same bank pattern share one picture.
    const std::string kind =
        memory == analyse::Memory::kShared
            ? fmt::format("{} {} {} {}", a.access.store, a.access.bytes, c.wavefronts, c.broadcast)
            : fmt::format("{}", known.size());
    if (std::ranges::find(known, kind) != known.end()) continue;
    known.push_back(kind);
    std::string caption =
        fmt::format("{}, {} B per lane, {}:{}. ", a.access.store ? "Store" : "Load", a.access.bytes,
                    a.file.substr(a.file.find_last_of('/') + 1), a.line);
    if (memory == analyse::Memory::kShared) {
      caption += fmt::format("{} wavefront{}, at least {}; {}.", c.wavefronts,
                             c.wavefronts == 1 ? "" : "s", c.least_wavefronts,
                             c.broadcast    ? "a broadcast"
                             : c.degree > 1 ? fmt::format("{}-way bank conflict", c.degree)
                                            : std::string("no bank conflict"));
      html += figure_of(bank_picture(a.access), caption);
    } else {
      caption += fmt::format("{} sectors in {} lines, {:.0f}% of their bytes used", c.sectors,
                             c.lines, 100 * c.sector_use);
      const std::string elements = analyse::elements_of(a.access, e.subject.seen.matrices);
      html += figure_of(warp_picture(a.access),
                        caption + (elements.empty() ? "." : "; " + elements.substr(0, 120)));
    }
  }
  return html;
}

std::string sentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string pace(const Explanation& e) {
  if (!e.prediction) return fmt::format("<p>No prediction: {}.</p>\n", escape(e.no_prediction));
  const analyse::Prediction& p = *e.prediction;
  std::string html =
      fmt::format("<p>Predicted {} TFLOP/s, limited by {}", figure(p.tflops), escape(p.limiter));
  if (e.measured) {
    const double at_clock = analyse::at_measured_clock(e);
    if (at_clock != p.tflops)
      html += fmt::format("; {} at the {:.0f} MHz that were measured", figure(at_clock),
                          *e.measured->clock_mhz);
    html += fmt::format("; measured {} ({:+.1f}%)", figure(e.measured->tflops),
                        100 * (at_clock / e.measured->tflops - 1));
  }
  html += fmt::format(
      ". {}</p>\n<table class=\"pipes\"><caption>Busy time of each pipe</caption><tbody>\n",
      escape(sentence(p.why)));
  for (const analyse::Pipe& pipe : p.pipes) {
    const double share = std::min(100.0, 100 * pipe.ms / p.ms);
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{} ms</td><td>{:.0f}%</td><td class=\"bar\"><span "
        "style=\"width:{:.1f}%\"></span></td></tr>\n",
        escape(pipe.name), figure(pipe.ms), share, share);
  }
  return html + "</tbody></table>\n";
}

std::string occupancy(const Explanation& e) {
  const analyse::Observation& seen = e.subject.seen;
  std::string html =
      fmt::format("<p>{} threads per block, {} registers each, {} B of shared memory", seen.threads,
                  seen.registers, seen.shared_bytes);
  if (seen.registers == 0) return html + ".</p>\n";
  const analyse::Occupancy o =
      analyse::occupancy_of({seen.threads, seen.registers, seen.shared_bytes}, e.machine);
  const analyse::Waves w =
      analyse::waves_of(analyse::blocks_for(e.subject, e.problem), o.blocks, e.machine);
  html += fmt::format(": {} block{} fit on an SM, limited by {}: {} of {} warps. ", o.blocks,
                      o.blocks == 1 ? "" : "s", escape(o.binds), o.warps, e.machine.warps);
  if (o.blocks > 0)
    html += fmt::format("{:.0f} blocks make {:.2f} waves, so {:.0f}, which are {:.1f}% full.",
                        w.blocks, w.waves, w.full, 100 * w.used);
  return html + "</p>\n";
}

std::string section(const Explanation& e) {
  std::string html = fmt::format(
      "<section class=\"rung\" id=\"{0}\" data-kernel=\"{0}\">\n<h3>{0}</h3>\n<p "
      "class=\"idea\">{1}</p>\n",
      escape(e.id), escape(e.idea));
  html += pace(e) + occupancy(e);
  if (e.subject.tile) {
    const analyse::Loads loads = analyse::loads_per_result(*e.subject.tile, e.problem.k);
    html += figure_of(tile_picture(*e.subject.tile),
                      fmt::format("Loads per result: {} global, {} shared.", loads.global_formula,
                                  loads.shared_formula));
  }
  if (const std::string global = accesses(e, analyse::Memory::kGlobal); !global.empty())
    html += "<h4>Global memory: lanes, sectors, lines</h4>\n" + global;
  if (const std::string shared = accesses(e, analyse::Memory::kShared); !shared.empty())
    html += "<h4>Shared memory: banks</h4>\n" + shared;
  return html + "</section>\n";
}

// Many rungs have identical access patterns. Of equal pictures only the first is drawn; the others
// refer to it.
std::string drawn_once(const std::string& html) {
  constexpr std::string_view kBegin = "<svg class=\"diagram\"", kEnd = "</svg>";
  std::map<std::string, std::size_t> pictures;  // content of the picture -> its number
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = html.find(kBegin); at != std::string::npos; at = html.find(kBegin, done)) {
    const std::size_t inside = html.find('>', at) + 1, end = html.find(kEnd, inside);
    out += html.substr(done, inside - done);
    const std::string content = html.substr(inside, end - inside);
    const auto [picture, fresh] = pictures.emplace(content, pictures.size());
    out += fresh ? fmt::format("<g class=\"diagram\" id=\"picture-{}\">{}</g>", picture->second,
                               content)
                 : fmt::format("<use href=\"#picture-{}\"/>", picture->second);
    done = end;
  }
  return out + html.substr(done);
}

}  // namespace

std::string rungs_section(const Contents& c) {
  if (c.explained.empty() && c.unexplained.empty()) return "";
  std::string html =
      "<section id=\"rungs\">\n<h2>Rung by rung</h2>\n<p>From the kernel's machine code, and from "
      "a warp in the middle of a small problem that the virtual GPU traced. Colours and numbers "
      "are lanes; x4: four lanes read the same word; grey: fetched, not used.</p>\n<div "
      "id=\"pick-rung\" class=\"controls\"></div>\n";
  std::string sections;
  for (const Explanation& e : c.explained) sections += section(e);
  html += drawn_once(sections);
  if (!c.unexplained.empty()) {
    html += "<h3>Not analysed</h3>\n<ul>\n";
    for (const std::string& text : c.unexplained) html += "<li>" + escape(text) + "</li>\n";
    html += "</ul>\n";
  }
  return html + "</section>\n";
}

}  // namespace ladder::page
