#pragma once

#include "compiler/transform/transformation_list.h"

namespace nnefc::transform {

// The anchors and the transformations that nnefc brings along.
TransformationList StandardTransformations();

// A function for each family of transformations.
void RegisterFusions(TransformationList& list);

}  // namespace nnefc::transform
