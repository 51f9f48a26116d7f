// Texts of the profile of a run.

#include "tools/api/facts/profile.h"

#include <algorithm>
#include <map>

#include "fmt/format.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

using runtime::engine::StepProfile;

// Returns the implementation of a step, and the reasons why others were rejected.
Json StepJson(const StepProfile& step) {
  Json rejected = Json::array();
  for (const runtime::kernels::RejectedImplementation& other : step.rejected)
    rejected.push_back(Json{{"implementation", other.id}, {"reason", other.reason.ToString()}});
  return {{"operation", step.operation},
          {"name", step.name},
          {"implementation", step.implementation},
          {"kernel", step.kernel},
          {"rejected", std::move(rejected)}};
}

// The sums of several steps.
struct StepTotals {
  std::string kernel;
  int64_t steps = 0;
  double milliseconds = 0;
  double operations = 0;
  double bytes = 0;

  void Add(const StepProfile& step) {
    ++steps;
    milliseconds += step.milliseconds;
    operations += step.operations;
    bytes += step.bytes;
  }
};

StepTotals TotalsOf(const Profile& profile) {
  StepTotals all;
  for (const StepProfile& step : profile) all.Add(step);
  return all;
}

// Returns the totals of each kernel, slowest first.
std::vector<StepTotals> TotalsByKernel(const Profile& profile) {
  std::map<std::string, StepTotals> by_name;
  for (const StepProfile& step : profile) by_name[step.kernel].Add(step);
  std::vector<StepTotals> kernels;
  for (auto& [kernel, totals] : by_name) {
    kernels.push_back(totals);
    kernels.back().kernel = kernel;
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const StepTotals& a, const StepTotals& b) { return a.milliseconds > b.milliseconds; });
  return kernels;
}

// Returns billions per second.
double Rate(double count, double milliseconds) {
  return milliseconds > 0 ? count / milliseconds / 1e6 : 0.0;
}

// Returns the time, its share of `all`, Gop/s, their share of the peak, and GB/s.
std::string MeasuresText(const StepTotals& totals, double all, double peak) {
  const double speed = Rate(totals.operations, totals.milliseconds);
  return fmt::format("{:>9.3f} {:>6.1f} {:>8.1f} {:>6.1f} {:>7.1f}", totals.milliseconds,
                     all > 0 ? 100 * totals.milliseconds / all : 0.0, speed, 1e11 * speed / peak,
                     Rate(totals.bytes, totals.milliseconds));
}

std::string MeasuresHead() {
  return fmt::format("{:>9} {:>6} {:>8} {:>6} {:>7}", "ms", "%", "Gop/s", "peak%", "GB/s");
}

}  // namespace

std::string ProfileText(const Profile& profile, double peak, StepOrder order) {
  const StepTotals all = TotalsOf(profile);
  std::vector<const StepProfile*> steps;
  for (const StepProfile& step : profile) steps.push_back(&step);
  if (order == StepOrder::kTime) {
    std::stable_sort(steps.begin(), steps.end(), [](const StepProfile* a, const StepProfile* b) {
      return a->milliseconds > b->milliseconds;
    });
  }
  std::string text =
      fmt::format("{}  {:<32} {:<36} {:<20} {}\n", MeasuresHead(), "operation", "name", "output", "kernel");
  for (const StepProfile* step : steps) {
    StepTotals totals;
    totals.Add(*step);
    text += fmt::format("{}  {:<32} {:<36} {:<20} {}\n", MeasuresText(totals, all.milliseconds, peak),
                        step->operation, step->name, ToString(step->shape), step->kernel);
  }
  const double speed = Rate(all.operations, all.milliseconds);
  return text +
         fmt::format(
             "{:>9.3f} {:>6.1f} {:>8.1f} {:>6.1f} {:>7}  all; {:.3g} Gop in all, the peak is {:.1f} Gop/s\n",
             all.milliseconds, 100.0, speed, 1e11 * speed / peak, "", all.operations / 1e9, peak / 1e9);
}

Json ProfileJson(const Profile& profile) {
  Json list = Json::array();
  for (const StepProfile& step : profile) {
    Json json = {{"milliseconds", step.milliseconds},
                 {"shape", step.shape},
                 {"operations", step.operations},
                 {"bytes", step.bytes}};
    json.update(StepJson(step));
    list.push_back(std::move(json));
  }
  return list;
}

std::string KernelsText(const Profile& profile, double peak) {
  const double all = TotalsOf(profile).milliseconds;
  std::string text = fmt::format("{}  {:>5} {}\n", MeasuresHead(), "steps", "kernel");
  for (const StepTotals& kernel : TotalsByKernel(profile))
    text += fmt::format("{}  {:>5} {}\n", MeasuresText(kernel, all, peak), kernel.steps, kernel.kernel);
  return text;
}

Json KernelsJson(const Profile& profile) {
  Json list = Json::array();
  for (const StepTotals& kernel : TotalsByKernel(profile))
    list.push_back({{"kernel", kernel.kernel},
                    {"steps", kernel.steps},
                    {"milliseconds", kernel.milliseconds},
                    {"operations", kernel.operations},
                    {"bytes", kernel.bytes}});
  return list;
}

std::string ImplementationsText(const Profile& profile) {
  std::string text;
  for (const StepProfile& step : profile) {
    const std::string id = step.implementation.empty() ? "" : fmt::format("{}, ", step.implementation);
    text += fmt::format("{}{}{}: {}kernel {}\n", step.operation, step.name.empty() ? "" : " ", step.name, id,
                        step.kernel);
    for (const runtime::kernels::RejectedImplementation& other : step.rejected)
      text += fmt::format("    {}: rejected, {}\n", other.id, other.reason.ToString());
  }
  return text;
}

Json ImplementationsJson(const Profile& profile) {
  Json list = Json::array();
  for (const StepProfile& step : profile) list.push_back(StepJson(step));
  return list;
}

std::string TimeText(double milliseconds) {
  if (milliseconds >= 1000) return fmt::format("{:.2f} s", milliseconds / 1000);
  return milliseconds >= 10 ? fmt::format("{:.0f} ms", milliseconds) : fmt::format("{:.2f} ms", milliseconds);
}

}  // namespace nnefc::api
