#pragma once

#include <gtest/gtest.h>

#include <string>

#include "runtime/engine/executable.h"

namespace nnefc::runtime {

// Returns the bytes of the arena and the outputs of a plan, from its description.
inline double PlannedBytes(const engine::Executable& executable) {
  const std::string plan = executable.DescribePlan();
  const std::string name = "arena and outputs ";
  const size_t place = plan.find(name);
  EXPECT_NE(place, std::string::npos) << plan;
  return place == std::string::npos ? 0 : std::stod(plan.substr(place + name.size())) * 1e6;
}

}  // namespace nnefc::runtime
