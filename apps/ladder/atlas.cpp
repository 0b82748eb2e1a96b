// SPDX-License-Identifier: Apache-2.0
// ladder atlas: accuracy of kernels on different kinds of data and for different k.
#include "verify/atlas.hpp"

#include <fmt/format.h>
#include <ladder/guard.hpp>
#include <ladder/registry.hpp>

#include <memory>

#include "common.hpp"
#include "page/render.hpp"
#include "report/atlas.hpp"
#include "report/environment.hpp"
#include "report/table.hpp"
#include "report/terminal.hpp"

namespace ladder::app {
namespace {

struct AtlasOptions {
  CommonOptions common;
  std::string rows, into, marker, svg;
};

// Returns the CUDA kernels with binary32 operands and results.
std::vector<const KernelInfo*> atlas_kernels(const CommonOptions& options, const Target& target) {
  if (!options.kernels.empty()) return selected_kernels(options, target);
  std::vector<const KernelInfo*> all;
  for (const KernelInfo& kernel : kernels()) {
    const bool words = kernel.precision != Precision::kIeee && kernel.precision != Precision::kTf32;
    if (kernel.place != Place::kCuda || kernel.in != Type::kF32 || kernel.out != Type::kF32)
      continue;
    if (kernel.role == Role::kLibraryKernel && kernel.id != "ladder_large_tiles") continue;
    if (words || kernel.role == Role::kBaseline || kernel.id == "ladder_large_tiles")
      all.push_back(&kernel);
  }
  return all;
}

// Returns the precision that a guarded product selected; "" for other kernels.
std::string chosen_by(const KernelInfo& kernel) {
  if (kernel.precision != Precision::kAuto) return "";
  const auto choice = guarded_choice(nullptr);
  return choice ? to_string(choice.value()) : "";
}

// Measures one problem and distribution; all kernels share one reference.
void measure(const std::vector<const KernelInfo*>& kernels, const Problem& problem,
             Distribution distribution, const Target& target, std::uint64_t seed, Atlas& atlas,
             TablePrinter& printer) {
  const Images images = draw(problem, distribution, seed);
  const ReferenceKind kind = choose_reference(problem, target.main());
  const auto reference =
      required(make_reference(as_operation(problem, images),
                              kind == ReferenceKind::kIdentity ? ReferenceKind::kHost : kind),
               "--shape");
  for (const KernelInfo* kernel : kernels) {
    if (interrupted()) return;
    const auto errors =
        measure_errors(*kernel, problem, images, reference, device_of(*kernel, target));
    if (!errors) continue;  // refused: `ladder verify` gives the reason
    AtlasRow row{std::string(kernel->id), kernel->precision, distribution, problem,
                 errors.value(),          chosen_by(*kernel)};
    printer.line(fmt::format("{:<18}  {:<12}  {:<16}  {:>9.2e}  {:>9.2e}  {:>9.2e}  {:>9.2e}",
                             row.kernel, to_string(distribution), to_string(problem),
                             row.errors.normwise, row.errors.componentwise, row.errors.median,
                             row.errors.largest));
    atlas.rows.push_back(std::move(row));
  }
}

std::vector<Problem> atlas_shapes(CommonOptions options) {
  if (options.shapes.empty())
    options.shapes = {"512x512x256", "512x512x1024", "512x512x4096", "512x512x16384"};
  return selected_shapes(options);
}

Atlas measure_all(const AtlasOptions& options) {
  const std::vector<Problem> shapes = atlas_shapes(options.common);
  const Target target = select_target(options.common.device);
  const auto kernels = atlas_kernels(options.common, target);
  for (const Problem& problem : shapes) require_memory(problem, target.main(), "--shape");
  catch_interrupt();
  const Environment environment = query_environment(target.main());
  Atlas atlas{
      environment.date, environment.commit, environment.device.name, environment.cublas, {}};
  TablePrinter printer(stdout, stderr, detect_style());
  printer.line(fmt::format("{:<18}  {:<12}  {:<16}  {:>9}  {:>9}  {:>9}  {:>9}", "kernel", "data",
                           "shape", "normwise", "compwise", "median", "largest"));
  for (const Problem& problem : shapes) {
    for (const Distribution distribution : distributions()) {
      measure(kernels, problem, distribution, target, options.common.seed, atlas, printer);
    }
  }
  return atlas;
}

int run(const AtlasOptions& options) {
  if (options.into.empty() != options.marker.empty())
    throw BadInput("--into: goes together with --marker");
  for (const auto& [path, argument] :
       {std::pair{options.common.json, "--json"}, std::pair{options.into, "--into"},
        std::pair{options.svg, "--svg"}}) {
    require_writable(path, argument);
  }
  Atlas atlas;
  if (options.rows.empty()) {
    atlas = measure_all(options);
  } else {
    atlas = required(atlas_from_json(required(read_file(options.rows), "--rows")),
                     "--rows: " + options.rows);
  }
  if (!options.common.json.empty() && !atlas.rows.empty())
    write_file(options.common.json, to_json(atlas), "--json");
  if (interrupted()) return kInterrupted;
  if (!options.svg.empty()) {
    const auto chart = required(atlas_chart(atlas), "--svg");
    const auto pictures = required(page::render(std::span(&chart.spec, 1)), "--svg");
    write_file(options.svg, page::stand_alone(pictures.front(), chart.description), "--svg");
  }
  if (!options.into.empty()) write_between(options.into, options.marker, atlas_markdown(atlas));
  return atlas.rows.empty() ? kFailed : kOk;
}

}  // namespace

void add_atlas(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand("atlas", "How accurate kernels are, over kinds of data");
  auto options = std::make_shared<AtlasOptions>();
  verb->add_option("kernels,--kernel", options->common.kernels,
                   "ids, rungs or numbers; default baselines, r12 and what stands in for ieee");
  verb->add_option(
          "--shape", options->common.shapes,
          "MxNxK or N, lists and ranges as for `ladder bench`; default 512x512 with K from 256 "
          "to 16384")
      ->allow_extra_args(false);
  verb->add_option("--device", options->common.device, kDeviceHelp);
  add_number(*verb, "--seed", options->common.seed, kSeedRange, "seed of the operands");
  verb->add_option("--json", options->common.json, "rows");
  verb->add_option("--rows", options->rows, "measure nothing, take these saved rows");
  verb->add_option("--into", options->into,
                   "replace the text between two markers of this file by the table");
  verb->add_option("--marker", options->marker, "name of the two markers");
  verb->add_option("--svg", options->svg, "picture of the largest errors on the deepest sum");
  verb->footer(
      "Errors against FP64: normwise ||C - R|| / ||R||; componentwise, the largest |C - R| / "
      "(|A||B|); median and\n"
      "largest |C - R| / |R|. A histogram in units of the last place is in the rows.\n"
      "Examples:\n"
      "  ladder atlas --json atlas.json\n"
      "  ladder atlas r19 cublas_ieee --shape 1024x1024x65536\n"
      "  ladder atlas --rows atlas.json --into docs/atlas.md --marker atlas --svg "
      "docs/images/atlas.svg");
  verb->callback([&chosen, options] { chosen = [options] { return run(*options); }; });
}

}  // namespace ladder::app
