// Texts of the profile of a run.

#include "tools/api/facts/profile.h"

#include "fmt/format.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

Json RejectedBy(const runtime::engine::StepProfile& step) {
  Json rejected = Json::array();
  for (const runtime::kernels::RejectedImplementation& other : step.rejected)
    rejected.push_back(Json{{"implementation", other.id}, {"reason", other.reason.ToString()}});
  return rejected;
}

}  // namespace

std::string ProfileText(const Profile& profile, double peak) {
  runtime::engine::StepProfile all;
  for (const runtime::engine::StepProfile& step : profile) {
    all.milliseconds += step.milliseconds;
    all.operations += step.operations;
  }
  // 1e6 per millisecond equals 1e9 per second.
  const auto rate = [](double count, double milliseconds) {
    return milliseconds > 0 ? count / milliseconds / 1e6 : 0.0;
  };
  std::string text = fmt::format("{:>9} {:>6} {:>8} {:>6} {:>7}  {:<32} {:<36} {:<20} {}\n", "ms", "%",
                                 "Gop/s", "peak%", "GB/s", "operation", "name", "output", "kernel");
  for (const runtime::engine::StepProfile& step : profile) {
    const double speed = rate(step.operations, step.milliseconds);
    text += fmt::format(
        "{:>9.3f} {:>6.1f} {:>8.1f} {:>6.1f} {:>7.1f}  {:<32} {:<36} {:<20} {}\n", step.milliseconds,
        all.milliseconds > 0 ? 100 * step.milliseconds / all.milliseconds : 0.0, speed, 1e11 * speed / peak,
        rate(step.bytes, step.milliseconds), step.operation, step.name, ToString(step.shape), step.kernel);
  }
  const double speed = rate(all.operations, all.milliseconds);
  return text +
         fmt::format(
             "{:>9.3f} {:>6.1f} {:>8.1f} {:>6.1f} {:>7}  all; {:.3g} Gop in all, the peak is {:.1f} Gop/s\n",
             all.milliseconds, 100.0, speed, 1e11 * speed / peak, "", all.operations / 1e9, peak / 1e9);
}

Json ProfileJson(const Profile& profile) {
  Json list = Json::array();
  for (const runtime::engine::StepProfile& step : profile) {
    list.push_back(Json{{"milliseconds", step.milliseconds},
                        {"operation", step.operation},
                        {"name", step.name},
                        {"shape", step.shape},
                        {"kernel", step.kernel},
                        {"operations", step.operations},
                        {"bytes", step.bytes},
                        {"implementation", step.implementation},
                        {"rejected", RejectedBy(step)}});
  }
  return list;
}

std::string ImplementationsText(const Profile& profile) {
  std::string text;
  for (const runtime::engine::StepProfile& step : profile) {
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
  for (const runtime::engine::StepProfile& step : profile) {
    list.push_back(Json{{"operation", step.operation},
                        {"name", step.name},
                        {"implementation", step.implementation},
                        {"kernel", step.kernel},
                        {"rejected", RejectedBy(step)}});
  }
  return list;
}

std::string TimeText(double milliseconds) {
  if (milliseconds >= 1000) return fmt::format("{:.2f} s", milliseconds / 1000);
  return milliseconds >= 10 ? fmt::format("{:.0f} ms", milliseconds) : fmt::format("{:.2f} ms", milliseconds);
}

}  // namespace nnefc::api
